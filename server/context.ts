import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { bootstrapRoot } from './api/bootstrap.ts'
import type { ApiDeps } from './api/deps.ts'
import { type Batcher, createBatcher } from './billing/batcher.ts'
import { createLedger } from './billing/ledger.ts'
import { createPriceBook, type PriceBook } from './billing/ratios.ts'
import { createReturnQueue } from './billing/return-queue.ts'
import type { Config } from './config.ts'
import { createChannelCare } from './jobs/channel-care.ts'
import { createNotifyRoot } from './jobs/notify.ts'
import { peopleJobs } from './jobs/people-jobs.ts'
import { startJobs } from './jobs/scheduler.ts'
import { heartbeat, sweepHolds, unregisterNode } from './jobs/sweep-holds.ts'
import { type Clock, epochSeconds, systemClock } from './lib/clock.ts'
import { createSecrets } from './lib/secrets.ts'
import type { Logger } from './log.ts'
import { createMailRoot } from './mails/mail-root.ts'
import { createMailer } from './mails/mailer.ts'
import { createMetrics, type Metrics } from './metrics.ts'
import { providers } from './providers/registry.ts'
import { createBreaker } from './relay/breaker.ts'
import { cleanSpool } from './relay/clean-spool.ts'
import { createTokenCounter } from './relay/count-tokens.ts'
import type { RelayDeps } from './relay/deps.ts'
import { createIdleWatch } from './relay/idle-watch.ts'
import { loadRouting, type RoutingSource } from './relay/routing-table.ts'
import type { RelayRouteDeps } from './relay/serve-call.ts'
import { createTokenCache } from './relay/token-cache.ts'
import { loadSettings, type Settings, type SettingsSource } from './settings/settings.ts'
import { markExhausted, markExpired } from './store/callers.ts'
import { migrate } from './store/migrate.ts'
import { openStore } from './store/open.ts'
import type { Store } from './store/store.ts'
import { version } from './version.ts'

const heartbeatMs = 5_000
const sweepMs = 10_000
/** How long the end of the process waits for calls that were cut off to be charged. */
const lastSettlesMs = 5_000
const testsDueMs = 30_000

/** Everything with a lifetime, built once; `close` ends it in reverse order. */
export interface Context {
  store: Store
  api: ApiDeps
  relay: RelayRouteDeps
  metrics: Metrics
  /** The password of a root account made just now, to be shown once. */
  generatedPassword: string | undefined
  /** Refuses new calls from now on. */
  drain(): void
  /** Waits for the ledger and closes everything. */
  close(): Promise<void>
}

/** Opens the database, brings it up to date and puts the program together. */
export async function createContext(config: Config, log: Logger, clock: Clock = systemClock): Promise<Context> {
  const store = openStore({ url: config.databaseUrl, synchronous: config.sqliteSynchronous })
  try {
    return await assemble(store, config, log, clock)
  } catch (error) {
    await store.close().catch(() => undefined)
    throw error
  }
}

async function assemble(store: Store, config: Config, log: Logger, clock: Clock): Promise<Context> {
  const warn = (message: string) => log.warn(message)
  const nowMs = () => clock.nowMs()
  await migrate(store)
  const secrets = createSecrets(config.secretKey)
  const { generatedPassword } = await bootstrapRoot(store, secrets, config, clock)
  const metrics = createMetrics(log)
  const sweep = { store, clock, nodeId: randomUUID(), events: metrics.events }
  await heartbeat(sweep)
  await sweepHolds(sweep)
  await cleanSpool(join(config.dataDir, 'spool'), nowMs())

  const settings = await loadSettings(store, warn)
  const routing = await loadRouting(store, secrets, warn)
  const batcher = createBatcher(store.ledger)
  const relay = relayDeps({
    settings,
    routing,
    batcher,
    metrics,
    clock,
    nodeId: sweep.nodeId,
    disable: (...of) => care.disable(...of),
  })
  const mailer = createMailer({ settings, localAddress: `http://localhost:${config.port}`, warn })
  const mailRoot = createMailRoot({ store, settings, mailer })
  const notifyRoot = createNotifyRoot({ settings: settings.current, mailRoot, warn })
  const events = metrics.events
  const care = createChannelCare({ store, relay, routing, settings, secrets, clock, events, notifyRoot })
  const tokens = createTokenCache(store, secrets, nowMs)
  let draining = false
  metrics.bind({
    ledgerPending: batcher.pending,
    openBreakers: () => relay.breaker.snapshot().length,
    openCalls: relay.ledger.openHolds,
  })
  const stopJobs = startJobs(
    [
      { name: 'heartbeat', everyMs: heartbeatMs, run: () => heartbeat(sweep) },
      { name: 'channel-tests', everyMs: testsDueMs, run: care.health.testIfDue },
      { name: 'sweep-holds', everyMs: sweepMs, run: () => sweepHolds(sweep) },
      ...peopleJobs({ store, settings, mailer, clock, warn }),
    ],
    warn,
  )

  function mark(tokenId: number, how: typeof markExpired): void {
    markAndTell(store, tokenId, how).catch((error) => warn(`token ${tokenId} could not be marked: ${String(error)}`))
  }

  return {
    store,
    metrics,
    generatedPassword,
    api: {
      store,
      settings,
      mailer,
      secrets,
      clock,
      trustedProxies: config.trustedProxies,
      version,
      startTime: epochSeconds(clock),
      catalogue: () => providers.map(({ meta }) => ({ ...meta, models: [...meta.models] })),
      testChannel: care.health.test,
      testAllChannels: care.health.testAll,
      updateBalance: care.ask.balance,
      updateAllBalances: care.ask.allBalances,
      upstreamModels: care.ask.models,
      warn,
    },
    relay: {
      relay,
      authenticate: { tokens, routing: routing.current, nowMs, expired: (id) => mark(id, markExpired) },
      store,
      trustedProxies: config.trustedProxies,
      spoolDir: join(config.dataDir, 'spool'),
      exhausted: (id) => mark(id, markExhausted),
      draining: () => draining,
    },
    drain: () => {
      draining = true
    },
    async close() {
      await untilSettled(relay.ledger, batcher)
      stopJobs()
      care.health.close()
      relay.idleWatch.close()
      relay.counter.close()
      await mailer.idle()
      await unregisterNode(sweep)
      await store.close()
    },
  }
}

/** Answers that were cut off settle what was delivered; the heartbeat must go on until they have. */
async function untilSettled(ledger: RelayDeps['ledger'], batcher: Batcher): Promise<void> {
  const lateMs = performance.now() + lastSettlesMs
  while ((ledger.openHolds() > 0 && performance.now() < lateMs) || batcher.pending() > 0)
    await new Promise((resolve) => setTimeout(resolve, 5))
}

interface RelayParts {
  settings: SettingsSource
  routing: RoutingSource
  batcher: Batcher
  metrics: Metrics
  clock: Clock
  nodeId: string
  disable: RelayDeps['disableChannel']
}

function relayDeps({ settings, routing, batcher, metrics, clock, nodeId, disable }: RelayParts): RelayDeps {
  const nowMs = () => clock.nowMs()
  let prices = priceBook(settings.current(), clock)
  settings.onChange((next) => {
    prices = priceBook(next, clock, prices)
  })
  return {
    ledger: createLedger({
      batcher,
      returns: createReturnQueue(nowMs),
      clock,
      nodeId,
      holdWaitMs: () => settings.current().HoldWaitTime * 1000,
      onSettleRetry: (error) => metrics.events.settleRetried({ cause: String(error) }),
      onHoldLost: (id, charge) =>
        metrics.events.warning(
          `hold ${id} was closed by another process as abandoned; the ${charge} units of its call are not charged`,
        ),
    }),
    prices: () => prices,
    settings: settings.current,
    routing: routing.current,
    breaker: createBreaker(nowMs),
    counter: createTokenCounter(),
    idleWatch: createIdleWatch(nowMs),
    clock,
    random: Math.random,
    events: metrics.events,
    disableChannel: disable,
  }
}

function priceBook(settings: Settings, clock: Clock, previous?: PriceBook): PriceBook {
  return createPriceBook(settings, { nowMs: () => clock.nowMs(), ...(previous && { previous }) })
}

async function markAndTell(store: Store, tokenId: number, how: typeof markExpired): Promise<void> {
  const changed = await store.write((trx) => how(trx, tokenId))
  if (changed) await store.notices.publish({ topic: 'token', id: tokenId })
}
