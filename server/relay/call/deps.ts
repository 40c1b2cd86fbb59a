import type { ModelFacts } from '../../../contract/api/model.ts'
import type { Ledger } from '../../billing/ledger.ts'
import type { PriceBook } from '../../billing/price-book.ts'
import type { Captures } from '../../captures/captures.ts'
import type { Events } from '../../events.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Turns } from '../../lib/turns.ts'
import type { FetchJsonThrough } from '../../outbound/fetch-json.ts'
import type { FetchMedia } from '../../outbound/fetch-media.ts'
import type { MetadataGuard } from '../../outbound/metadata-guard.ts'
import type { Settings } from '../../settings/settings.ts'
import type { DeadlineWatch } from '../cancellation/deadline-watch.ts'
import type { TokenCounter } from '../counting/count-tokens.ts'
import type { Breaker } from '../routing/breaker.ts'
import type { ChannelFailures } from '../routing/channel-failures.ts'
import type { ChannelLine } from '../routing/channel-line.ts'
import type { ChannelCost } from '../routing/channel-order.ts'
import type { Latencies } from '../routing/latencies.ts'
import type { Rests } from '../routing/rests.ts'
import type { RetryBudget } from '../routing/retry-budget.ts'
import type { RoutingTable } from '../routing/routing-table.ts'
import type { SessionRests } from '../routing/session-rests.ts'
import type { UnsupportedFeatures } from '../routing/unsupported-features.ts'
import type { BackgroundJobs } from './background-jobs.ts'
import type { CompactionSeals } from './compactions.ts'
import type { DrainedSessions } from './drained-sessions.ts'
import type { ItemStore } from './item-store.ts'
import type { AsideReader } from './known-request.ts'
import type { ResponseOwners } from './response-owners.ts'
import type { Threads } from './threads.ts'
import type { TokenKeeper } from './upstream-tokens.ts'

/** The relay's dependencies: one object per process. Values that change are read through functions. */
export interface RelayDeps {
  ledger: Ledger
  prices(): PriceBook
  settings(): Settings
  routing(): RoutingTable
  breaker: Breaker
  rests: Rests
  sessionRests: SessionRests
  retryBudget: RetryBudget
  latencies: Latencies
  channelCost: ChannelCost
  /** The queue of calls that wait for capacity on a channel. */
  line: ChannelLine
  /** Removes a call from the queue in the database. */
  leaveLine(ticket: number): void
  channelFailures: ChannelFailures
  counter: TokenCounter
  /** True if a model may think before its first output. False only for models that are known not to think. */
  mayThink(model: string): boolean
  /** What is known about a model by its name; undefined = nothing. */
  modelFacts(model: string): ModelFacts | undefined
  asideReader: AsideReader
  deadlineWatch: DeadlineWatch
  guard: MetadataGuard
  /** Features that a channel's service turned out not to support, such as an endpoint. */
  unsupportedFeatures: UnsupportedFeatures
  itemStore: ItemStore
  /** Encrypts summaries of conversations for their tokens. */
  compactionSeals: CompactionSeals
  threads: Threads
  drainedSessions: DrainedSessions
  responseOwners: ResponseOwners
  /** The responses that services are generating in the background. */
  backgroundJobs: BackgroundJobs
  /** Records the requests for which the root user has set up recording. */
  captures: Pick<Captures, 'isRecording' | 'begin'>
  /** Temporary upstream tokens with which providers sign or authorise requests. */
  accessTokens: TokenKeeper
  fetchJson: FetchJsonThrough
  /** Downloads files that callers reference by URL. */
  fetchMedia: FetchMedia
  clock: Clock
  /** Long-running work waits here between its steps, so that it does not block other requests. */
  turns: Turns
  /** Identifies this installation to other Tollgate installations. */
  installationId: string
  random(): number
  events: Events
  /**
   * Requests that a channel be disabled or, if `key` is given, only that key of the channel. The reason is shown to
   * people.
   */
  disableChannel(channelId: number, reason: string, key?: string): void
}
