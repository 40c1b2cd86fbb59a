import { type AttentionItem, attentionKinds } from '../../../contract/api/overview.ts'
import { balanceUnits } from '../../../contract/balance-units.ts'
import { channelStatus } from '../../../contract/statuses.ts'
import { createPriceBook } from '../../billing/price-book.ts'
import { channelLosses } from '../../jobs/channel-losses.ts'
import type { LogCopy } from '../../jobs/copy-log.ts'
import { spendJumps } from '../../jobs/spend-jumps.ts'
import { feedOf } from '../../jobs/stored-costs.ts'
import type { Settings } from '../../settings/settings.ts'
import { installedAt } from '../../store/accounts/users.ts'
import { channelsWithFeeds } from '../../store/channels/price-feeds.ts'
import { coolDownsSince, type WatchedChannel, watchedChannels } from '../../store/channels/watched-channels.ts'
import { lastBackups } from '../../store/installation/backups.ts'
import { type RefusedModel, refusedModels, refusedPeople } from '../../store/logs/refused-calls.ts'
import type { Db } from '../../store/store.ts'
import { attemptsByHour, type ChannelHour } from '../../store/usage/hourly.ts'
import { rankUsage } from '../../store/usage/usage-query.ts'

const hourSeconds = 3600
const dayHours = 24
const daySeconds = dayHours * hourSeconds
const weekHours = 7 * dayHours

/** The longest time for which the circuit breaker pauses a channel. */
const coolDownSeconds = 300
const leastAttempts = 5
/** Only a channel's attempts in this many hours decide whether it counts as failing. */
const failingHours = 6
const failingShare = 0.2
/** A user's balance below this amount, in currency units, is too small for most requests. */
const emptyBalance = 0.1
const jumpFactor = 3
/** Losses below this amount, in currency units, may be due to rounding and are ignored. */
const leastLoss = 0.01
const mostChannels = 5000

type Item = Omit<AttentionItem, 'reason' | 'count' | 'failed' | 'amount' | 'limit'> & Partial<AttentionItem>

interface Ask {
  db: Db
  settings: Settings
  logCopy: Pick<LogCopy, 'state'>
  /** Epoch seconds. */
  now: number
}

/** The items that an administrator should look at now, most urgent first. */
export async function attentionItems(ask: Ask): Promise<AttentionItem[]> {
  const channels = await watchedChannels(ask.db)
  const found = await Promise.all([
    channelItems(ask, channels),
    balanceItems(ask, channels),
    priceItems(ask),
    lossItems(ask, channels),
    modelItems(ask),
    peopleItems(ask),
    spendItems(ask),
    backupItems(ask),
    logCopyItems(ask),
  ])
  const rank = (item: Item) => attentionKinds.indexOf(item.kind)
  return found
    .flat()
    .sort((a, b) => rank(a) - rank(b) || b.since - a.since)
    .map((item) => ({ reason: '', count: 0, failed: 0, amount: 0, limit: 0, ...item }))
}

const about = ({ id, name }: WatchedChannel): Item['target'] => ({ type: 'channel', id, name })

async function channelItems({ db, now }: Ask, channels: readonly WatchedChannel[]): Promise<Item[]> {
  const hour = Math.floor(now / hourSeconds)
  const [attempts, pauses] = await Promise.all([
    attemptsByHour(db, { from: hour + 1 - failingHours, to: hour + 1 }),
    coolDownsSince(db, now - coolDownSeconds),
  ])
  const pauseOf = new Map(pauses.map((pause) => [pause.channelId, pause]))
  const attemptsOf = Map.groupBy(attempts, (each) => each.channel)
  return channels.flatMap((channel): Item[] => {
    const target = about(channel)
    if (channel.status === channelStatus.autoDisabled) {
      const { status_time: since, status_reason: reason } = channel
      return [{ kind: 'channel_off', target, since, reason, act: 'test_and_enable' }]
    }
    if (channel.status !== channelStatus.enabled) return []
    const failing = failingNow(attemptsOf.get(channel.id) ?? [])
    const pause = pauseOf.get(channel.id)
    const act = 'open_channel'
    return [
      ...(failing ? [{ kind: 'channel_failing' as const, target, act, ...failing } as const] : []),
      ...(pause
        ? [{ kind: 'channel_cooling' as const, target, act, since: pause.at, reason: pause.reason } as const]
        : []),
    ]
  })
}

/**
 * Counts a channel's attempts if too many of them failed; undefined otherwise. It adds hours from the newest to the
 * oldest until there are `leastAttempts` attempts. A channel with little traffic can therefore count as failing. A
 * channel that has recovered stops counting as failing after a few attempts.
 */
function failingNow(hours: readonly ChannelHour[]): { since: number; count: number; failed: number } | undefined {
  let [count, failed, since] = [0, 0, 0]
  for (const each of [...hours].sort((a, b) => b.hour - a.hour)) {
    if (count >= leastAttempts) break
    count += each.attempts
    failed += each.failed
    since = each.hour * hourSeconds
  }
  return count < leastAttempts || failed <= count * failingShare ? undefined : { since, count, failed }
}

/** Items for channels whose price list has prices that need an admin's decision, or could not be read. */
async function priceItems({ db }: Ask): Promise<Item[]> {
  const channels = await channelsWithFeeds(db)
  return channels.flatMap(({ id, name, price_feed }): Item[] => {
    const feed = feedOf(price_feed)
    if (!feed) return []
    const target: Item['target'] = { type: 'channel', id, name }
    const held = Object.values(feed.held)
    const since = Math.min(...held.map((each) => each.since))
    return [
      ...(held.length > 0
        ? [{ kind: 'price_held', target, since, count: held.length, act: 'open_channel' } as const]
        : []),
      ...(feed.error === ''
        ? []
        : [
            {
              kind: 'price_feed_failed',
              target,
              since: feed.failed_at,
              reason: feed.error,
              act: 'open_channel',
            } as const,
          ]),
    ]
  })
}

/** Channels whose requests in the last 24 hours cost more than was charged for them. */
async function lossItems({ db, settings, now }: Ask, channels: readonly WatchedChannel[]): Promise<Item[]> {
  const { since, losses } = await channelLosses(db, now)
  const least = settings.QuotaPerUnit * leastLoss
  const lost = new Map(losses.filter(({ loss }) => loss >= least).map((each) => [each.id, each]))
  return channels.flatMap((channel): Item[] => {
    const found = lost.get(channel.id)
    if (!found) return []
    const { loss: amount, charged: limit } = found
    return [{ kind: 'channel_loss', target: about(channel), since, amount, limit, act: 'open_channel' }]
  })
}

/**
 * Items for channels whose upstream balance is lower than what they charged in the last week. Balances that are not in
 * dollars are ignored, because they cannot be compared with the charges.
 */
async function balanceItems({ db, settings, now }: Ask, channels: readonly WatchedChannel[]): Promise<Item[]> {
  const known = channels.filter(
    ({ type, status, balance_updated_time }) =>
      status === channelStatus.enabled && balance_updated_time > 0 && balanceUnits[type] === 'dollar',
  )
  if (known.length === 0) return []
  const to = Math.floor(now / hourSeconds) + 1
  const range = { from: to - weekHours, to }
  const { top } = await rankUsage(db, { filter: {}, range, group: 'channel_id', metric: 'quota', limit: mostChannels })
  const spent = new Map(top.map(({ g, quota }) => [Number(g), quota / settings.QuotaPerUnit]))
  return known.flatMap((channel): Item[] => {
    const limit = spent.get(channel.id) ?? 0
    if (limit === 0 || channel.balance >= limit) return []
    const { balance: amount, balance_updated_time: since } = channel
    return [{ kind: 'balance_low', target: about(channel), since, amount, limit, act: 'open_channel' }]
  })
}

async function modelItems({ db, settings, now }: Ask): Promise<Item[]> {
  const refused = await refusedModels(db, now - daySeconds)
  const isUnpriced = refused.some(({ code }) => code === 'model_not_priced')
  const book = isUnpriced ? createPriceBook(settings, { nowMs: () => now * 1000 }) : undefined
  return refused.flatMap((each): Item[] => {
    if (each.code === 'no_available_channel') return [modelItem(each, 'model_no_route', 'add_channel')]
    return book?.sheet(each.model, 0) ? [] : [modelItem(each, 'model_no_price', 'set_price')]
  })
}

function modelItem({ model, group, calls, since }: RefusedModel, kind: Item['kind'], act: Item['act']): Item {
  return { kind, target: { type: 'model', id: 0, name: model }, since, reason: group, count: calls, act }
}

async function peopleItems({ db, settings, now }: Ask): Promise<Item[]> {
  const people = await refusedPeople(db, now - daySeconds, Math.round(settings.QuotaPerUnit * emptyBalance))
  return people.map(({ id, username: name, quota: amount, calls: count, since }) => ({
    kind: 'person_no_quota',
    target: { type: 'user', id, name },
    since,
    count,
    amount,
    act: 'give_quota',
  }))
}

/** Users who spent far more today than on a usual day. */
async function spendItems({ db, settings, now }: Ask): Promise<Item[]> {
  const jumps = await spendJumps(db, settings, now, jumpFactor)
  return jumps.map(({ id, name, spent: amount, median: limit }) => ({
    kind: 'spend_jump',
    target: { type: 'user', id, name },
    since: Math.floor(now / daySeconds) * daySeconds,
    amount,
    limit,
    act: 'open_usage',
  }))
}

/** The last good backup counts as old if it began more than two backup intervals plus this time ago. */
const backupGraceSeconds = 2 * hourSeconds
/** The hint about backups appears after this many days, because a new installation has nothing to lose yet. */
const backupHintDays = 7

/**
 * An item if the last backup failed or is old. If backups are off and none was ever made, the item is a hint at the end
 * of the list.
 */
async function backupItems({ db, settings, now }: Ask): Promise<Item[]> {
  const { good, ended } = await lastBackups(db, 'anybody')
  const item = (kind: Item['kind'], since: number, more: Partial<Item> = {}): Item[] => [
    { kind, target: { type: 'backup', id: ended?.id ?? 0, name: '' }, since, act: 'open_backups', ...more },
  ]
  if (settings.BackupStore === 'off') {
    if (ended) return []
    const since = await installedAt(db)
    return since > 0 && since < now - backupHintDays * daySeconds ? item('backup_none', since) : []
  }
  if (ended && ended.error !== '') return item('backup_failed', ended.finished_at, { reason: ended.error })
  const every = settings.BackupEveryHours * hourSeconds
  return good && good.started_at < now - 2 * every - backupGraceSeconds ? item('backup_old', good.started_at) : []
}

/**
 * Failures of the log copy are not reported if rows were copied within this time, because short interruptions are
 * normal.
 */
const logCopyGraceSeconds = 600

/**
 * An item if log rows cannot be copied. It does not contain the error message, because that may contain a server's
 * address. Only the settings, which only root can see, show the message.
 */
async function logCopyItems({ logCopy, now }: Ask): Promise<Item[]> {
  const { error, sentAt, failedAt } = await logCopy.state()
  if (error === '' || sentAt > now - logCopyGraceSeconds) return []
  const target: Item['target'] = { type: 'log_copy', id: 0, name: '' }
  return [{ kind: 'log_copy_failed', target, since: sentAt || failedAt || now, act: 'open_log_copy' }]
}
