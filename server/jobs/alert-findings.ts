import { type AlertKind, alertCondition } from '../../contract/alert-conditions.ts'
import { channelStatus } from '../../contract/statuses.ts'
import { dayOf, startOfDay, timeZone } from '../lib/time-zone.ts'
import type { Settings } from '../settings/settings.ts'
import { type AmountFault, amountFaults, balancesOf, tokenFacts } from '../store/accounts/alert-facts.ts'
import type { AlertRuleRow } from '../store/accounts/alert-rules.ts'
import { channelsWithFeeds } from '../store/channels/price-feeds.ts'
import { type WatchedChannel, watchedChannels } from '../store/channels/watched-channels.ts'
import type { Db } from '../store/store.ts'
import { rankUsage } from '../store/usage/usage-query.ts'
import type { AlertTraffic, Count } from './alert-traffic.ts'
import { channelLosses } from './channel-losses.ts'
import { spendJumps } from './spend-jumps.ts'
import { feedOf, type StoredFeed } from './stored-costs.ts'

/**
 * A value that is beyond the threshold of a rule, or near it, for one target. A target without a finding is healthy.
 */
export interface Finding {
  /** The target, such as `channel 7`; '' for the installation or the account. */
  target: string
  name: string
  value: number
  /**
   * `fires` means that the value is beyond the threshold. `near` means that the value is on the good side of the
   * threshold, but within a tenth of it. With `near`, a rule that is firing continues to fire, so that it does not stop
   * and start repeatedly while the value varies around the threshold.
   */
  state: 'fires' | 'near'
}

export interface FindingDeps {
  db: Db
  settings: Settings
  /** Epoch seconds. */
  now: number
  traffic: AlertTraffic
  ledger: LedgerWatch
}

const hourSeconds = 3600
const daySeconds = 86_400
const mostSpenders = 10_000
/** A rule stops firing when the value is this far on the good side of the threshold, as a share of the threshold. */
const band = 0.1

/** Finds amounts in the ledger that do not add up. It searches once an hour and remembers the result. */
export interface LedgerWatch {
  faults(db: Db, now: number): Promise<AmountFault[]>
}

export function createLedgerWatch(): LedgerWatch {
  let known: { at: number; faults: AmountFault[] } | undefined
  return {
    async faults(db, now) {
      if (!known || now - known.at >= hourSeconds) known = { at: now, faults: await amountFaults(db) }
      return known.faults
    },
  }
}

/** The findings of each rule, by the id of the rule. */
export async function alertFindings(
  rules: readonly AlertRuleRow[],
  deps: FindingDeps,
): Promise<Map<number, Finding[]>> {
  const found = new Map<number, Finding[]>()
  for (const [kind, same] of Map.groupBy(rules, (rule) => rule.kind)) {
    const find = await finders[kind](same, deps)
    for (const rule of same) found.set(rule.id, find(rule))
  }
  return found
}

type Find = (rule: AlertRuleRow) => Finding[]

/**
 * One function per alert condition. It reads the data for all rules with this condition at once, and returns a function
 * that computes the findings of one rule.
 */
const finders: Readonly<Record<AlertKind, (rules: readonly AlertRuleRow[], deps: FindingDeps) => Promise<Find>>> = {
  error_rate:
    async (_, { traffic }) =>
    (rule) =>
      share(rule, traffic.all(rule.minutes), { target: '', name: '' }),
  own_error_rate:
    async (_, { traffic }) =>
    (rule) =>
      share(rule, traffic.user(rule.owner_id, rule.minutes), { target: '', name: '' }),
  first_byte_p95:
    async (_, { traffic }) =>
    (rule) => {
      const { p95, requests } = traffic.firstByte(rule.minutes)
      return p95 === null || requests < rule.min_calls ? [] : judged(rule, '', '', p95 / 1000)
    },
  async channel_error_rate(_, { db, traffic }) {
    const channels = await watchedChannels(db)
    return (rule) => {
      const counts = traffic.channels(rule.minutes)
      return chosen(rule, channels).flatMap((channel) => {
        const count = counts.get(channel.id)
        return count ? share(rule, count, named(channel)) : []
      })
    }
  },
  async channel_disabled(_, { db }) {
    const channels = await watchedChannels(db)
    const off = channels.filter(({ status }) => status === channelStatus.autoDisabled)
    return (rule) => chosen(rule, off).map((channel) => ({ ...named(channel), value: 1, state: 'fires' }))
  },
  async upstream_balance(_, { db }) {
    const channels = await watchedChannels(db)
    const known = channels.filter(
      ({ status, balance_updated_time }) => status === channelStatus.enabled && balance_updated_time > 0,
    )
    return (rule) =>
      chosen(rule, known).flatMap((channel) => {
        const { target, name } = named(channel)
        return judged(rule, target, name, channel.balance)
      })
  },
  async price_held(_, { db }) {
    const waiting = await watchedFeeds(db, ({ held }) => Object.keys(held).length)
    return (rule) => chosen(rule, waiting).map(({ target, name, value }) => ({ target, name, value, state: 'fires' }))
  },
  async price_feed_failed(_, { db }) {
    const unread = await watchedFeeds(db, ({ error }) => (error === '' ? 0 : 1))
    return (rule) => chosen(rule, unread).map(({ target, name, value }) => ({ target, name, value, state: 'fires' }))
  },
  async channel_loss(_, { db, now }) {
    const channels = await watchedChannels(db)
    const lost = new Map((await channelLosses(db, now)).losses.map(({ id, loss }) => [id, loss]))
    return (rule) =>
      chosen(rule, channels).flatMap((channel) => {
        const { target, name } = named(channel)
        return judged(rule, target, name, lost.get(channel.id) ?? 0)
      })
  },
  async daily_spend(rules, { db, now }) {
    const spent = new Map<number, number>()
    for (const from of new Set(rules.map((rule) => dayStart(rule, now)))) {
      const ask = { filter: {}, group: undefined, metric: 'quota', limit: 1 } as const
      spent.set(from, (await rankUsage(db, { ...ask, range: hoursFrom(from, now) })).total.quota)
    }
    return (rule) => judged(rule, '', '', spent.get(dayStart(rule, now)) ?? 0)
  },
  async user_spend_jump(rules, { db, settings, now }) {
    const least = Math.min(...rules.map(({ threshold }) => threshold)) * (1 - band)
    const jumps = await spendJumps(db, settings, now, least)
    return (rule) =>
      jumps.flatMap(({ id, name, spent, median }) => judged(rule, `user ${id}`, name, median > 0 ? spent / median : 0))
  },
  async ledger_fault(_, { db, now, ledger }) {
    const faults = await ledger.faults(db, now)
    return () =>
      faults.map(({ kind, id }) => ({ target: `${kind} ${id}`, name: `${kind} ${id}`, value: 1, state: 'fires' }))
  },
  async own_balance(rules, { db }) {
    const balances = await balancesOf(db, owners(rules))
    return (rule) => {
      const balance = balances.get(rule.owner_id)
      return balance === undefined ? [] : judged(rule, '', '', balance)
    }
  },
  async own_spend(rules, { db, now }) {
    const spent = new Map<string, number>()
    for (const [from, same] of Map.groupBy(rules, (rule) => dayStart(rule, now))) {
      const ask = { filter: {}, group: 'user_id', metric: 'quota', limit: mostSpenders } as const
      const { top } = await rankUsage(db, { ...ask, range: hoursFrom(from, now), only: owners(same) })
      for (const { g, quota } of top) spent.set(`${from} ${g}`, quota)
    }
    return (rule) => judged(rule, '', '', spent.get(`${dayStart(rule, now)} ${rule.owner_id}`) ?? 0)
  },
  async own_token_quota(rules, { db }) {
    const tokens = Map.groupBy(await tokenFacts(db, owners(rules)), ({ user_id }) => user_id)
    return (rule) =>
      (tokens.get(rule.owner_id) ?? [])
        .filter(({ unlimited_quota }) => !unlimited_quota)
        .flatMap(({ id, name, remain_quota }) => judged(rule, `token ${id}`, name || `#${id}`, remain_quota))
  },
  async own_token_expiry(rules, { db, now }) {
    const tokens = Map.groupBy(await tokenFacts(db, owners(rules)), ({ user_id }) => user_id)
    return (rule) =>
      (tokens.get(rule.owner_id) ?? [])
        .filter(({ expired_time }) => expired_time > now)
        .flatMap(({ id, name, expired_time }) =>
          judged(rule, `token ${id}`, name || `#${id}`, (expired_time - now) / daySeconds),
        )
  },
}

const owners = (rules: readonly AlertRuleRow[]) => [...new Set(rules.map(({ owner_id }) => owner_id))]
const named = ({ id, name }: Pick<WatchedChannel, 'id' | 'name'>) => ({
  target: `channel ${id}`,
  name: name || `#${id}`,
})
const chosen = <Channel extends { id: number }>(rule: AlertRuleRow, channels: readonly Channel[]) =>
  channels.filter(({ id }) => rule.channel_id === 0 || rule.channel_id === id)

/** The channels that read a price list on a schedule and for whose list `count` returns more than 0. */
async function watchedFeeds(db: Db, count: (feed: StoredFeed) => number) {
  const channels = await channelsWithFeeds(db)
  return channels.flatMap(({ id, name, price_feed }) => {
    const feed = feedOf(price_feed)
    const value = feed ? count(feed) : 0
    return value > 0 ? [{ id, ...named({ id, name }), value }] : []
  })
}

/** The finding for the percentage of failed requests; none if there were fewer requests than the rule requires. */
function share(rule: AlertRuleRow, { requests, failed }: Count, of: { target: string; name: string }): Finding[] {
  return requests < rule.min_calls ? [] : judged(rule, of.target, of.name, (100 * failed) / requests)
}

/** Turns a value into a finding, unless it is clearly on the good side of the threshold. */
function judged({ kind, threshold }: AlertRuleRow, target: string, name: string, value: number): Finding[] {
  const isAbove = alertCondition(kind).fires === 'above'
  if (isAbove ? value > threshold : value < threshold) return [{ target, name, value, state: 'fires' }]
  const isNear = isAbove ? value > threshold * (1 - band) : value < threshold * (1 + band)
  return isNear ? [{ target, name, value, state: 'near' }] : []
}

/** The start of the current day in the rule's time zone, in epoch seconds. */
function dayStart({ time_zone }: AlertRuleRow, now: number): number {
  const zone = timeZone(time_zone)
  if (!zone) return Math.floor(now / daySeconds) * daySeconds
  const [year = 0, month = 0, day = 0] = dayOf(zone, now).split('-').map(Number)
  return startOfDay(zone, year, month, day)
}

const hoursFrom = (seconds: number, now: number) => ({
  from: Math.ceil(seconds / hourSeconds),
  to: Math.floor(now / hourSeconds) + 1,
})
