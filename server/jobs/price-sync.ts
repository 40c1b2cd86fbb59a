import type { ModelCost } from '../../contract/api/channel-costs.ts'
import { changedModels, describeCost, isSameCost, mergePrices, ownCost } from '../billing/compare-costs.ts'
import { usualCosts } from '../billing/usual-costs.ts'
import { type Clock, epochSeconds } from '../lib/clock.ts'
import type { Settings } from '../settings/settings.ts'
import { channelById, lockChannel, updateChannel } from '../store/channels/channels.ts'
import { channelsWithFeeds, priceFeedOf, setPriceFeed } from '../store/channels/price-feeds.ts'
import { recordAudit } from '../store/installation/audit.ts'
import { beginRun, finishRun, priceSyncRun, touchRun } from '../store/installation/job-runs.ts'
import type { Store, Trx } from '../store/store.ts'
import { type PriceListResult, readPriceList } from './read-price-list.ts'
import type { Job } from './scheduler.ts'
import { costsOf, costsText, feedOf, type StoredFeed, upstreamModels } from './stored-costs.ts'
import type { AskUpstream } from './upstream-account.ts'

export interface PriceSyncDeps {
  store: Store
  clock: Clock
  settings(): Settings
  prices: AskUpstream['prices']
  warn(message: string): void
}

/** Keeps prices of channels up to date from lists that are read on a schedule. */
export interface PriceSync {
  /** Reads the lists that are due. At most one node does so at a time. */
  runIfDue(): Promise<void>
  /** Reads the list of a channel now. Does nothing if the channel has none. */
  check(id: number): Promise<void>
}

const everyMs = 60_000
const hourSeconds = 3600

export function createPriceSync(deps: PriceSyncDeps): PriceSync {
  const { store, clock, settings, warn } = deps
  const now = () => epochSeconds(clock)

  async function due(): Promise<number[]> {
    const rows = await channelsWithFeeds(store.read)
    return rows.filter(({ price_feed }) => isDue(feedOf(price_feed), now())).map(({ id }) => id)
  }

  async function check(id: number): Promise<void> {
    const channel = await channelById(store.read, id)
    const feed = channel && feedOf(await priceFeedOf(store.read, id))
    if (!channel || !feed) return
    const result = await readPriceList(deps.prices, channel, feed)
    const hasChanged = await store.write((trx) => save(trx, { id, read: feed, result, now: now() }))
    if (hasChanged) await store.notices.publish({ topic: 'channels', id })
  }

  return {
    check,
    async runIfDue() {
      if (!settings().PriceSyncEnabled || (await due()).length === 0) return
      if (!(await store.write((trx) => beginRun(trx, priceSyncRun, now())))) return
      try {
        // The due lists are determined again, because another node may have read them before this run began.
        for (const id of await due()) {
          await check(id).catch((error: unknown) => warn(`the prices of channel ${id} were not read: ${String(error)}`))
          await store.write((trx) => touchRun(trx, priceSyncRun, now()))
        }
      } finally {
        await store.write((trx) => finishRun(trx, priceSyncRun, now()))
      }
    },
  }
}

/** The job that keeps prices up to date. */
export function priceSyncJobs({ runIfDue }: Pick<PriceSync, 'runIfDue'>): Job[] {
  return [{ name: priceSyncRun, everyMs, run: runIfDue }]
}

/**
 * Whether a list must be read now. After a failure, a list is read again after an hour, or earlier if its interval is
 * shorter.
 */
function isDue(feed: StoredFeed | undefined, now: number): boolean {
  if (!feed) return false
  const hours = feed.error === '' ? feed.every_hours : Math.min(1, feed.every_hours)
  return now >= feed.checked_at + hours * hourSeconds
}

interface Reading {
  id: number
  /** The feed as it was when the list was requested. */
  read: StoredFeed
  result: PriceListResult
  now: number
}

/**
 * Saves the result. Returns true if prices have changed. If the feed was replaced after the list was requested, nothing
 * is saved.
 */
async function save(trx: Trx, { id, read, result, now }: Reading): Promise<boolean> {
  const channel = await lockChannel(trx, id)
  const feed = channel && feedOf(await priceFeedOf(trx, id))
  if (!channel || !feed || !isSameFeed(feed, read)) return false
  if (!result.ok) {
    const failed = { ...feed, checked_at: now, error: result.message, failed_at: feed.failed_at || now }
    await setPriceFeed(trx, id, JSON.stringify(failed))
    if (feed.error !== result.message) await record(trx, id, now, `failed: ${result.message}`)
    return false
  }
  const old = costsOf(channel)
  const usual = (model: string) => usualCosts(model, channel.type)
  const known = { old: old.models, refused: feed.refused, usual }
  const merged = mergePrices(known, result.list.models, upstreamModels(channel))
  const changed = changedModels(old.models, merged.models)
  const held = Object.entries(merged.held).map(([model, found]) => {
    const before = feed.held[model]
    return [model, before && isSameCost(before.cost, found.cost) ? before : { ...found, since: now }] as const
  })
  const checked = { ...feed, checked_at: now, error: '', failed_at: 0, held: Object.fromEntries(held) }
  if (changed.length > 0) checked.changed_at = now
  await setPriceFeed(trx, id, JSON.stringify(checked))
  const isNew = held.filter(([, { since }]) => since === now)
  if (changed.length === 0 && isNew.length === 0) {
    if (feed.error !== '') await record(trx, id, now, 'read again')
    return false
  }
  const told = (model: string, cost: ModelCost) => describeCost(model, ownCost(old.models, model), cost)
  const words = [
    ...isNew.map(
      ([model, { cost, usual: from }]) => `held back ${from ? describeCost(model, from, cost) : told(model, cost)}`,
    ),
    ...changed.map((model) => told(model, merged.models[model] ?? {})),
  ]
  await record(trx, id, now, words.join('; '))
  if (changed.length === 0) return false
  const source = { kind: feed.kind, url: result.url, time: now }
  await updateChannel(trx, id, { costs: costsText({ ...old, models: merged.models, source }) })
  return true
}

function isSameFeed(one: StoredFeed, other: StoredFeed): boolean {
  return (['kind', 'url', 'group'] as const).every((name) => one[name] === other[name])
}

function record(trx: Trx, id: number, now: number, detail: string): Promise<void> {
  return recordAudit(trx, {
    ...{ created_at: now, actor_id: 0, actor_name: '', ip: '' },
    ...{ action: 'channel.sync-costs', target: `channel ${id}`, detail },
  })
}
