import type { Channel, ChannelTypeEntry } from '../../contract/api/channel.ts'
import type { PriceList } from '../../contract/api/price.ts'
import type { DryRun, DryRunRequest, VirtualWarning } from '../../contract/api/virtual-model.ts'
import type { ScheduledBackups } from '../backup/scheduled-backups.ts'
import type { Leases } from '../billing/leases.ts'
import type { Captures } from '../captures/captures.ts'
import type { RateRule } from '../http/rate-limit.ts'
import type { AlertSender } from '../jobs/alert-sender.ts'
import type { LogCopy } from '../jobs/copy-log.ts'
import type { ChannelDraft, DraftReport } from '../jobs/draft-report.ts'
import type { ImportRuns } from '../jobs/import-runs.ts'
import type { LogTail } from '../jobs/log-tail.ts'
import type { UpstreamResult } from '../jobs/upstream-account.ts'
import type { Clock } from '../lib/clock.ts'
import type { JsonObject } from '../lib/json.ts'
import type { Secrets } from '../lib/secrets/secrets.ts'
import type { Turns } from '../lib/turns.ts'
import type { Mailer } from '../mails/mailer.ts'
import type { SettingsSource } from '../settings/settings.ts'
import type { Notice, Store } from '../store/store.ts'

/** Result of a channel test. */
export interface ChannelTest {
  ok: boolean
  timeMs: number
  /** Why the test failed; empty if it succeeded. */
  message: string
  /** The tested model and its reply. */
  model: string
  reply: string
}

/** The dependencies of the management API. */
export interface ApiDeps {
  store: Store
  settings: SettingsSource
  mailer: Mailer
  secrets: Secrets
  clock: Clock
  /** A long-running task waits here between its steps, so that it does not delay requests. */
  turns: Turns
  /** Addresses or CIDRs of proxies whose X-Forwarded-* is trusted. */
  trustedProxies: readonly string[]
  version: string
  /** Prefix of every path as the outside world sees it: '' or '/gateway'. */
  basePath?: string
  /** Epoch seconds at which this process started. */
  startTime: number
  catalogue(): readonly ChannelTypeEntry[]
  testChannel(id: number, model?: string): Promise<ChannelTest>
  /** Starts a run over all channels; false if a run is already in progress. */
  testAllChannels(scope: 'all' | 'disabled'): Promise<boolean>
  /** Features that a channel's upstream does not support, as its responses have shown. */
  missingAt(id: number): Channel['missing']
  /** Requests the remaining balance from a channel's upstream, and saves it. */
  updateBalance(id: number): Promise<UpstreamResult<number>>
  /** Updates the balances of all enabled channels, in bounded time; false if an update is already in progress. */
  updateAllBalances(): Promise<boolean>
  /** The models that the upstream of a channel lists. */
  upstreamModels(id: number): Promise<UpstreamResult<string[]>>
  /** A price list, read through the proxy of a channel and without its key. */
  upstreamPrices(id: number, url: string): Promise<UpstreamResult<JsonObject>>
  /** Reads the scheduled price list of a channel now. */
  syncPrices(id: number): Promise<void>
  /** Tests a channel that is not stored, and lists the models of its upstream. */
  probeDraft(draft: ChannelDraft): Promise<DraftReport>
  /** The models that enabled channels serve to a group, with their current prices. */
  priceList(group: string, userGroup?: string): PriceList
  /** Warnings about a virtual model in its stored state. */
  virtualWarnings(name: string): VirtualWarning[]
  /** Reports how a request would be served now, without calling an upstream or holding quota. */
  dryRun(request: DryRunRequest): Promise<DryRun>
  /** New log rows, as they are written. */
  logTail: LogTail
  captures: Captures
  backups: Pick<ScheduledBackups, 'start' | 'nextAt'>
  logCopy: Pick<LogCopy, 'state' | 'test'>
  imports: ImportRuns
  /** Recalls the leases on a balance before the balance is changed. Absent if leases are not used. */
  leases?: Pick<Leases, 'callBack' | 'mayBeOut'> | undefined
  /** Sends a message to a destination of alerts. */
  sendAlert: AlertSender
  warn(message: string): void
  /** Limits that replace the default ones. */
  rateRules?: { api?: RateRule; critical?: RateRule; loginFailures?: RateRule; accountFailures?: RateRule }
  /** Delays a response by a number of milliseconds. By default, it uses a real timer. */
  pause?: (ms: number) => Promise<unknown>
}

/** Notifies every node that cached data is out of date. */
export type Announce = (notice: Notice) => Promise<void>

/** Publishes notices of committed changes. If publishing fails, the caches still expire a little later. */
export function announcer({ store, warn }: Pick<ApiDeps, 'store' | 'warn'>): Announce {
  return async (notice) => {
    try {
      await store.notices.publish(notice)
    } catch (error) {
      warn(`the notice ${notice.topic} ${notice.id} could not be published: ${String(error)}`)
    }
  }
}
