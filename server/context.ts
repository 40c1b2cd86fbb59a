import { join } from 'node:path'
import { bootstrapRoot, rootPassword, SecretKeyMismatch } from './api/bootstrap.ts'
import type { ApiDeps } from './api/deps.ts'
import { mayThink } from './api/model/may-think.ts'
import { factsOf } from './api/model/model-facts.ts'
import { createScheduledBackups } from './backup/scheduled-backups.ts'
import { type Batcher, createBatcher } from './billing/batcher.ts'
import { createLeases } from './billing/leases.ts'
import { createLedger } from './billing/ledger.ts'
import { ledgerReports } from './billing/ledger-reports.ts'
import { createPriceBook, type PriceBook } from './billing/price-book.ts'
import { createReturnQueue } from './billing/return-queue.ts'
import { untilSettled } from './billing/until-settled.ts'
import type { Captures } from './captures/captures.ts'
import { captureJobs, openCaptures } from './captures/open-captures.ts'
import { type Config, takeBackSecretKey } from './config.ts'
import { bindGauges } from './gauges.ts'
import type { RateLimiter } from './http/rate-limit.ts'
import { rateLimiters, rateRules } from './http/rate-rules.ts'
import { alertJobs } from './jobs/alert-jobs.ts'
import { type AlertSender, createAlertSender } from './jobs/alert-sender.ts'
import { backupJobs } from './jobs/backup-jobs.ts'
import { capJobs, openLine } from './jobs/cap-jobs.ts'
import { channelCalls } from './jobs/channel-calls.ts'
import { type ChannelCare, createChannelCare } from './jobs/channel-care.ts'
import { createLogCopy } from './jobs/copy-log.ts'
import { holdJobs } from './jobs/hold-jobs.ts'
import { createImportRuns, type ImportRuns } from './jobs/import-runs.ts'
import { countUsage, logJobs } from './jobs/log-jobs.ts'
import { createLogTail } from './jobs/log-tail.ts'
import { tokenMarker } from './jobs/mark-tokens.ts'
import { createNotifyRoot } from './jobs/notify.ts'
import { peopleJobs } from './jobs/people-jobs.ts'
import { priceSyncJobs } from './jobs/price-sync.ts'
import type { Pulse } from './jobs/pulse.ts'
import { refreshJob } from './jobs/refresh-caches.ts'
import { relayJobs } from './jobs/relay-jobs.ts'
import { type Job, startJobs, unchanged } from './jobs/scheduler.ts'
import { sweepDeps } from './jobs/sweep-deps.ts'
import { type SweepDeps, sweepHolds, sweepOwnHolds, sweepOwnLeases, unregisterNode } from './jobs/sweep-holds.ts'
import { type Clock, epochSeconds, systemClock } from './lib/clock.ts'
import { createSecrets, type Secrets } from './lib/secrets/secrets.ts'
import { Turns } from './lib/turns.ts'
import type { Logger } from './log.ts'
import { createMailRoot } from './mails/mail-root.ts'
import { createMailer, type Mailer } from './mails/mailer.ts'
import { createMetrics, type Metrics } from './metrics.ts'
import { createFetchJson } from './outbound/fetch-json.ts'
import { createFetchMedia } from './outbound/fetch-media.ts'
import { createMetadataGuard, type Resolve, systemResolve } from './outbound/metadata-guard.ts'
import { createPostMessage } from './outbound/post-message.ts'
import { providers } from './providers/registry.ts'
import { createTokenCache } from './relay/admission/token-cache.ts'
import { cleanSpool } from './relay/body/clean-spool.ts'
import type { RelayDeps } from './relay/call/deps.ts'
import { createItemStore } from './relay/call/item-store.ts'
import { createResponsesParts, type ResponsesParts } from './relay/call/responses-parts.ts'
import { createThreads } from './relay/call/threads.ts'
import { createAccessTokens } from './relay/call/upstream-tokens.ts'
import { createDeadlineWatch } from './relay/cancellation/deadline-watch.ts'
import { createTokenCounter } from './relay/counting/count-tokens.ts'
import { createFailedCallLog, type FailedCallLog } from './relay/failures/failed-calls.ts'
import { routeReports } from './relay/free-calls/route-reports.ts'
import type { RealtimeDeps } from './relay/realtime/serve-realtime.ts'
import { RealtimeSessions } from './relay/realtime/sessions.ts'
import { createAsideReader } from './relay/request/read-aside.ts'
import { createBreaker } from './relay/routing/breaker.ts'
import { createChannelFailures } from './relay/routing/channel-failures.ts'
import { createLatencies } from './relay/routing/latencies.ts'
import { createOrderCost } from './relay/routing/order-cost.ts'
import { createRests } from './relay/routing/rests.ts'
import { createRetryBudget } from './relay/routing/retry-budget.ts'
import { loadRouting, type RoutingSource } from './relay/routing/routing-table.ts'
import { createSessionRests } from './relay/routing/session-rests.ts'
import { createUnsupportedFeatures } from './relay/routing/unsupported-features.ts'
import { sealPlainOptions } from './settings/secret-options.ts'
import { loadSettings, type Settings, type SettingsSource } from './settings/settings.ts'
import { markExhausted, markExpired } from './store/accounts/callers.ts'
import { openStore } from './store/connection/open.ts'
import { migrate } from './store/migrations/migrate.ts'
import { copyBeforeMigration } from './store/snapshot/copy-sqlite.ts'
import type { Store } from './store/store.ts'
import { version } from './version.ts'

/** How long a service may take to issue an upstream token. */
const tokenTimeoutMs = 10_000
const testsDueMs = 30_000
const forgetMs = 10_000

/** The long-lived parts of the program. They are created once, and `close` ends them in reverse order. */
export interface Context {
  store: Store
  api: ApiDeps
  relay: RealtimeDeps
  metrics: Metrics
  /** Limiters that count requests per address: one for the billing endpoints, one for all paths outside the API. */
  limits: { billing: RateLimiter; web: RateLimiter }
  /** The password of a root account that was just created, to be shown once. */
  generatedPassword: string | undefined
  /** False while this process cannot write its heartbeat to the database. */
  canWrite(): boolean
  /** Makes the process refuse new calls. */
  drain(): void
  /**
   * Ends the calls and WebSocket sessions that are still open, and notifies their callers. Resolves when the sessions
   * have been charged.
   */
  cutOff(): Promise<void>
  /** Waits until the ledger has written everything, and then closes all parts. */
  close(): Promise<void>
}

/** Opens the database, brings it up to date and assembles the program. */
export async function createContext(
  config: Config,
  log: Logger,
  clock: Clock = systemClock,
  resolve: Resolve = systemResolve,
): Promise<Context> {
  const store = openStore({ url: config.databaseUrl, synchronous: config.sqliteSynchronous })
  try {
    return await assemble(store, config, log, clock, resolve)
  } catch (error) {
    await store.close().catch(() => undefined)
    throw error
  }
}

async function assemble(store: Store, config: Config, log: Logger, clock: Clock, resolve: Resolve): Promise<Context> {
  const warn = (message: string) => log.warn(message)
  const nowMs = () => clock.nowMs()
  const secrets = createSecrets(config.secretKey)
  const metrics = createMetrics(log)
  const sweep = sweepDeps(store, clock, metrics.events)
  const { pulse } = sweep
  await copyBeforeMigration(store, { path: config.databaseUrl, version, now: new Date(nowMs()), log })
  const generatedPassword = await bringUpToDate({ sweep, pulse, warn }, secrets, config)
  const settings = await loadSettings(store, secrets, warn)
  const routing = await loadRouting(store, secrets, warn)
  // The heartbeat is written after the slow steps, so that other processes do not consider this process dead when it
  // begins to accept calls.
  await pulse.beat()
  const batcher = createBatcher(store.ledger)
  const guard = createMetadataGuard(nowMs, resolve)
  const captures = await openCaptures({ store, settings, secrets, clock, guard, warn }, config.dataDir, metrics)
  const relay = relayDeps({
    sweep,
    installationId: secrets.fingerprint('installation', 'via').slice(0, 16),
    settings,
    routing,
    batcher,
    metrics,
    clock,
    guard,
    captures,
    accessTokens: createAccessTokens({ store, secrets, nowMs, warn }),
    ...createResponsesParts(sweep, secrets),
    disable: (...of) => care.disable(...of),
    cooled: (event) => care.cooled(event),
  })
  const mailer = createMailer({ settings, localAddress: `http://localhost:${config.port}`, warn })
  const mailRoot = createMailRoot({ store, settings, mailer })
  const notifyRoot = createNotifyRoot({ settings: settings.current, mailRoot, warn })
  const care = createChannelCare({ store, relay, routing, settings, secrets, clock, events: sweep.events, notifyRoot })
  const sendAlert = createAlertSender({ store, settings, mailer, secrets, clock, post: createPostMessage({ resolve }) })
  const tokens = createTokenCache(store, secrets, nowMs)
  const backups = createScheduledBackups({ ...config, store, settings, clock, guard, warn })
  const imports = createImportRuns({ ...config, store, secrets, clock, resolve, warn })
  const rules = rateRules(config)
  const logTail = createLogTail(store, warn)
  const sessions = new RealtimeSessions()
  const failedCalls = createFailedCallLog({ store, clock, lost: metrics.failedCallsLost, warn })
  const mark = tokenMarker(store, warn)
  let draining = false
  bindGauges(metrics, batcher, relay)
  const parts = { sweep, pulse, relay, care, captures, settings, routing, mailer, sendAlert, imports, warn }
  const own = [...capJobs({ store, clock, relay, metrics }), ...backupJobs(backups), ...imports.jobs]
  const logCopy = createLogCopy({ ...sweep, config, settings, guard, metrics, warn })
  const stopJobs = startJobs([...jobsOf(parts), ...own, logCopy.job], warn)
  return {
    store,
    metrics,
    generatedPassword,
    limits: rateLimiters(rules, clock),
    api: {
      ...{ store, settings, mailer, secrets, clock },
      ...{ turns: relay.turns, trustedProxies: config.trustedProxies, version, basePath: config.basePath },
      startTime: epochSeconds(clock),
      catalogue: () => providers.map(({ meta }) => ({ ...meta, models: [...meta.models] })),
      ...{ ...channelCalls(care, relay), ...routeReports(relay, store) },
      ...{ logTail, captures, backups, logCopy, imports, sendAlert, warn, leases: relay.ledger.leases },
      rateRules: rules,
    },
    relay: {
      relay,
      authenticate: { tokens, routing: routing.current, settings: settings.current, nowMs, expired: mark(markExpired) },
      store,
      failedCalls,
      trustedProxies: config.trustedProxies,
      spoolDir: join(config.dataDir, 'spool'),
      exhausted: mark(markExhausted),
      draining: () => draining,
      sessions,
    },
    canWrite: () => pulse.isFelt,
    drain: () => {
      draining = true
      logTail.close()
      sessions.drain()
    },
    async cutOff() {
      relay.deadlineWatch.cutAll()
      await sessions.cutOff()
    },
    close: () => closeAll({ ...parts, batcher, failedCalls, stopJobs, store }),
  }
}

type ClosingParts = JobParts & {
  batcher: Batcher
  failedCalls: FailedCallLog
  stopJobs(): Promise<void>
  store: Store
}

/**
 * Ends all parts in the reverse order of their start. Calls that are still open are left for other processes to close.
 */
async function closeAll({ relay, captures, imports, care, mailer, sweep, warn, ...of }: ClosingParts): Promise<void> {
  const { batcher, failedCalls, stopJobs, store } = of
  await imports.close()
  await untilSettled(relay.ledger, batcher)
  await relay.ledger.leases?.close()
  await failedCalls.close()
  await captures.close()
  await relay.channelFailures.write().catch((error) => warn(`failed attempts were not counted: ${String(error)}`))
  await relay.responseOwners
    .write()
    .catch((error) => warn(`the owners of stored responses could not be recorded: ${String(error)}`))
  await stopJobs()
  await care.health.close()
  relay.deadlineWatch.close()
  relay.counter.close()
  relay.asideReader.close()
  await mailer.idle()
  // This process removes itself from the list of nodes after its holds and leases have been closed.
  await sweepOwnHolds(sweep, relay.ledger)
    .then(() => relay.ledger.leases && sweepOwnLeases(sweep, relay.ledger.leases))
    .then(() => unregisterNode(sweep))
    .catch((error) => warn(`open requests could not be closed and are left to other processes: ${String(error)}`))
  await store.close()
}

/**
 * Migrates the database and cleans up what earlier runs left behind. Returns the password of a root account that was
 * just created.
 */
async function bringUpToDate(
  { sweep, pulse, warn }: Pick<JobParts, 'sweep' | 'pulse' | 'warn'>,
  secrets: Secrets,
  config: Config,
): Promise<string | undefined> {
  const { store, clock } = sweep
  const password = await rootPassword(store, config)
  await migrate(store)
  const { generatedPassword } = await bootstrapRoot(store, secrets, config, clock, password).catch((error: unknown) => {
    const { madeSecretFile: newKeyFile } = config
    throw error instanceof SecretKeyMismatch && newKeyFile !== undefined ? takeBackSecretKey(newKeyFile) : error
  })
  await sealPlainOptions(store, secrets)
  await pulse.beat()
  // The following steps may take minutes. Without a heartbeat, other nodes would remove this node in that time.
  const stopBeating = startJobs([pulse.job], warn)
  try {
    await sweepHolds(sweep)
    // Usage is counted before the first request is served, because an earlier version without usage sums may have left
    // millions of uncounted rows.
    await countUsage(sweep)
    await cleanSpool(join(config.dataDir, 'spool'), clock.nowMs())
  } finally {
    await stopBeating()
  }
  return generatedPassword
}

interface JobParts {
  sweep: SweepDeps
  pulse: Pulse
  relay: RelayDeps
  care: ChannelCare
  captures: Captures
  settings: SettingsSource
  routing: RoutingSource
  mailer: Mailer
  sendAlert: AlertSender
  imports: ImportRuns
  warn(message: string): void
}

/** The scheduled jobs. */
function jobsOf({ sweep, pulse, relay, care, captures, settings, routing, mailer, sendAlert, warn }: JobParts): Job[] {
  const { ledger, breaker } = relay
  const { store, clock } = sweep
  return [
    pulse.job,
    { name: 'channel-tests', everyMs: testsDueMs, run: care.health.testIfDue },
    ...priceSyncJobs(care.prices),
    ...holdJobs(sweep, ledger),
    ...relayJobs(relay),
    refreshJob(store, { settings, routing, captures }),
    {
      name: 'forget-breakers',
      everyMs: forgetMs,
      run: async () => breaker.keepOnly((id) => routing.current().channel(id) !== undefined),
    },
    ...captureJobs(captures),
    ...logJobs({ store, settings, clock, warn, isQuiet: unchanged(ledger.holdsTaken) }),
    ...peopleJobs({ store, settings, mailer, clock, warn }),
    ...alertJobs({ store, settings, clock, send: sendAlert }),
  ]
}

interface RelayParts extends ResponsesParts {
  installationId: string
  sweep: Pick<SweepDeps, 'store' | 'nodeId'>
  settings: SettingsSource
  routing: RoutingSource
  batcher: Batcher
  metrics: Metrics
  clock: Clock
  guard: RelayDeps['guard']
  captures: RelayDeps['captures']
  accessTokens: RelayDeps['accessTokens']
  disable: RelayDeps['disableChannel']
  cooled: ChannelCare['cooled']
}

function relayDeps({
  sweep: { store, nodeId },
  installationId,
  settings,
  routing,
  batcher,
  metrics,
  clock,
  disable,
  cooled,
  ...others
}: RelayParts): RelayDeps {
  const nowMs = () => clock.nowMs()
  let prices = priceBook(settings.current(), clock)
  settings.onChange((next) => {
    prices = priceBook(next, clock, prices)
  })
  const inLine = openLine({ store, nodeId, clock })
  const returns = createReturnQueue(nowMs)
  const leases = createLeases({ store, batcher, clock, nodeId, returns, warn: (text) => metrics.events.warning(text) })
  leases?.setShare(settings.current().QuotaLeaseShare)
  settings.onChange((next) => leases?.setShare(next.QuotaLeaseShare))
  const deps: RelayDeps = {
    ...inLine,
    ledger: createLedger({
      ...{ batcher, leases, returns, clock, nodeId },
      placeFreed: inLine.line.placeFreed,
      holdWaitMs: () => settings.current().HoldWaitTime * 1000,
      ...ledgerReports(metrics.events, store),
    }),
    prices: () => prices,
    settings: settings.current,
    routing: routing.current,
    breaker: createBreaker(nowMs, () => deps.random(), cooled),
    rests: createRests(nowMs, cooled),
    sessionRests: createSessionRests(nowMs),
    retryBudget: createRetryBudget(),
    latencies: createLatencies(nowMs),
    channelCost: createOrderCost(() => prices),
    ...{ mayThink, modelFacts: factsOf },
    channelFailures: createChannelFailures(store, clock),
    counter: createTokenCounter(),
    asideReader: createAsideReader(),
    deadlineWatch: createDeadlineWatch(clock),
    unsupportedFeatures: createUnsupportedFeatures(nowMs),
    itemStore: createItemStore(nowMs),
    threads: createThreads(nowMs),
    fetchJson: createFetchJson(tokenTimeoutMs, others.guard),
    fetchMedia: createFetchMedia(),
    clock,
    turns: new Turns(),
    installationId,
    random: Math.random,
    events: metrics.events,
    disableChannel: disable,
    ...others,
  }
  return deps
}

function priceBook(settings: Settings, clock: Clock, previous?: PriceBook): PriceBook {
  return createPriceBook(settings, { nowMs: () => clock.nowMs(), ...(previous && { previous }) })
}
