import { channelStatus } from '../../contract/statuses.ts'
import { epochSeconds } from '../lib/clock.ts'
import type { RelayDeps } from '../relay/deps.ts'
import { type Probe, probeChannel } from '../relay/probe-channel.ts'
import type { RoutingSource } from '../relay/routing-table.ts'
import { addTestLog, channelsToTest, moveChannelStatus } from '../store/channel-health.ts'
import { recordChannelTest } from '../store/channels.ts'
import type { Store } from '../store/store.ts'

export interface ChannelHealthDeps {
  store: Store
  relay: RelayDeps
  routing: RoutingSource
}

/** Tests channels and switches them off and on. */
export interface ChannelHealth {
  test(id: number, model?: string): Promise<{ ok: boolean; timeMs: number; message: string }>
  /** Starts a run over all channels; false when one is under way. */
  testAll(scope: 'all' | 'disabled'): Promise<boolean>
  /** Switches an enabled channel off after an upstream fault (status 3) on every node at once. */
  disable(id: number, reason: string): Promise<void>
}

export function createChannelHealth({ store, relay, routing }: ChannelHealthDeps): ChannelHealth {
  let running = false

  async function change(id: number, from: number, to: number): Promise<boolean> {
    const changed = await store.write((trx) => moveChannelStatus(trx, id, from, to))
    if (changed) await store.notices.publish({ topic: 'channels', id })
    return changed
  }

  async function disable(id: number, reason: string): Promise<void> {
    if (await change(id, channelStatus.enabled, channelStatus.autoDisabled))
      relay.events.channelDisabled({ channelId: id, reason })
  }

  async function testOne(id: number, model: string | undefined): Promise<Probe> {
    const channel = routing.current().channel(id)
    if (!channel)
      return {
        ok: false,
        timeMs: 0,
        model: '',
        message: 'the channel does not exist or its type is not served',
        verdict: undefined,
      }
    const probe = await probeChannel(relay, channel, model)
    const now = epochSeconds(relay.clock)
    await store.write(async (trx) => {
      await recordChannelTest(trx, id, probe.timeMs, now)
      const content = probe.ok
        ? `channel ${channel.name} passed its test`
        : `channel ${channel.name} failed its test: ${probe.message}`
      await addTestLog(trx, { at: now, channelId: id, model: probe.model, elapsedMs: probe.timeMs, content })
    })
    return probe
  }

  /** What a test means for the channel, by the options; a channel switched off by hand stays off. */
  async function judge(id: number, status: number, probe: Probe): Promise<void> {
    const settings = relay.settings()
    const slow = settings.ChannelDisableThreshold > 0 && probe.timeMs > settings.ChannelDisableThreshold * 1000
    if (settings.AutomaticDisableChannelEnabled && status === channelStatus.enabled) {
      if (probe.verdict?.disable !== undefined) await disable(id, probe.verdict.disable)
      else if (slow) await disable(id, `the test took ${probe.timeMs} ms`)
    }
    if (settings.AutomaticEnableChannelEnabled && status === channelStatus.autoDisabled && probe.ok && !slow) {
      await change(id, channelStatus.autoDisabled, channelStatus.enabled)
    }
  }

  async function runAll(scope: 'all' | 'disabled'): Promise<void> {
    for (const { id, status } of await channelsToTest(store.read, scope)) {
      await judge(id, status, await testOne(id, undefined))
    }
  }

  return {
    disable,
    async test(id, model) {
      const { ok, timeMs, message } = await testOne(id, model)
      return { ok, timeMs, message }
    },
    async testAll(scope) {
      if (running) return false
      running = true
      runAll(scope)
        .catch((error: unknown) => relay.events.warning(`testing the channels failed: ${String(error)}`))
        .finally(() => {
          running = false
        })
      return true
    },
  }
}
