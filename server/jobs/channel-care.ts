import type { Events } from '../events.ts'
import type { Clock } from '../lib/clock.ts'
import type { Secrets } from '../lib/secrets/secrets.ts'
import { createFetchJson } from '../outbound/fetch-json.ts'
import type { RelayDeps } from '../relay/call/deps.ts'
import type { CoolDown } from '../relay/routing/breaker.ts'
import type { RoutingSource } from '../relay/routing/routing-table.ts'
import type { SettingsSource } from '../settings/settings.ts'
import type { Store } from '../store/store.ts'
import { probeDraft } from './channel-draft.ts'
import { type ChannelHealth, createChannelHealth } from './channel-health.ts'
import { createChannelSwitch } from './channel-switch.ts'
import type { ChannelDraft, DraftReport } from './draft-report.ts'
import type { NotifyRoot } from './notify.ts'
import { createPriceSync, type PriceSync } from './price-sync.ts'
import { type AskUpstream, createAskUpstream } from './upstream-account.ts'

export interface ChannelCareDeps {
  store: Store
  relay: RelayDeps
  routing: RoutingSource
  settings: SettingsSource
  secrets: Secrets
  clock: Clock
  events: Events
  notifyRoot: NotifyRoot
}

/** Everything that is done with channels besides relaying calls. */
export interface ChannelCare {
  health: ChannelHealth
  ask: AskUpstream
  prices: PriceSync
  /** Tests a channel that is not stored. */
  probeDraft(draft: ChannelDraft): Promise<DraftReport>
  /**
   * Disables a channel, or pauses one of its keys, after an upstream failure. Returns immediately; the work is done in
   * the background.
   */
  disable(id: number, reason: string, key?: string): void
  /**
   * Records in the channel's history that the channel is skipped for a while. Returns immediately; the work is done in
   * the background.
   */
  cooled(event: CoolDown): void
}

/** The time limit for a query about an upstream's balance or models. */
const askTimeoutMs = 10_000

export function createChannelCare(deps: ChannelCareDeps): ChannelCare {
  const { store, relay, routing, clock, events, notifyRoot } = deps
  const settings = deps.settings.current
  const warn = events.warning
  const channelSwitch = createChannelSwitch(deps)
  const health = createChannelHealth({ store, relay, routing, channelSwitch, notifyRoot })
  const fetchJson = createFetchJson(askTimeoutMs, relay.guard)
  // If a changed setting makes a test run due, the run starts immediately.
  deps.settings.onChange(() => {
    health.testIfDue().catch((error: unknown) => warn(`the channel tests could not start: ${String(error)}`))
  })
  const ask = createAskUpstream({ store, routing, clock, settings, channelSwitch, fetchJson, warn })
  return {
    ...{ health, ask },
    prices: createPriceSync({ store, clock, settings, prices: ask.prices, warn }),
    probeDraft: (draft) => probeDraft({ relay, fetchJson }, draft),
    disable(id, reason, key) {
      const done =
        key === undefined
          ? channelSwitch.disable(id, reason)
          : channelSwitch.setKeyAside(id, key, reason, settings().AutomaticDisableChannelEnabled)
      done.catch((error: unknown) => warn(`channel ${id} could not be disabled: ${String(error)}`))
    },
    cooled(event) {
      channelSwitch
        .cooled(event)
        .catch((error: unknown) =>
          warn(`the pause of channel ${event.channelId} could not be recorded: ${String(error)}`),
        )
    },
  }
}
