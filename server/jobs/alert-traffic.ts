import * as z from 'zod/mini'
import { logType } from '../../contract/log-types.ts'
import { tryParse } from '../lib/json.ts'
import type { Db } from '../store/store.ts'
import {
  attemptsByMinute,
  callsByMinute,
  type MinuteAttempts,
  type MinuteRange,
  timesByMinute,
} from '../store/usage/call-minutes.ts'
import { firstByteOf } from '../store/usage/first-byte-steps.ts'
import { idsSince } from '../store/usage/recent-rows.ts'

/** The longest period over which a rule can measure. */
const keptMinutes = 60
/**
 * A log row may become visible up to this many minutes after its `created_at`. Each update therefore reads the last
 * minutes again.
 */
const settleMinutes = 3
/** The number of ids per query. It is limited so that the process is not blocked for long. */
const idsPerStep = 20_000

export interface Count {
  requests: number
  failed: number
}

interface Minute {
  all: Count
  users: Map<number, Count>
  channels: Map<number, Count>
  /** The number of responses for each step of the histogram of first-byte times. */
  times: Map<number, number>
}

/**
 * The requests of the last hour by minute. The counts of earlier minutes are kept in memory, so that an update reads
 * only the rows of the last minutes.
 */
export interface AlertTraffic {
  update(db: Db, now: number): Promise<void>
  /** The counts of all requests of the last `minutes` minutes. */
  all(minutes: number): Count
  /** The counts of one user's requests in this time. */
  user(id: number, minutes: number): Count
  /** Attempts at each channel, including failed ones. */
  channels(minutes: number): Map<number, Count>
  /** The time within which 95 % of the responses began, in milliseconds, and the number of responses. */
  firstByte(minutes: number): { p95: number | null; requests: number }
}

export function createAlertTraffic(): AlertTraffic {
  let minutes = new Map<number, Minute>()
  let readTo: number | undefined
  let newest = 0

  const last = (count: number) =>
    Array.from({ length: count }, (_, back) => minutes.get(newest - back)).filter((each) => each !== undefined)

  return {
    async update(db, now) {
      const current = Math.floor(now / 60)
      const oldest = current - keptMinutes + 1
      const open = readTo === undefined ? oldest : Math.max(oldest, readTo - settleMinutes)
      const kept = new Map([...minutes].filter(([minute]) => minute >= oldest && minute < open))
      const { first, last: end } = await idsSince(db, open * 60)
      for (let from = first; from <= end; from += idsPerStep)
        await readInto(kept, db, { first: from, last: Math.min(end, from + idsPerStep - 1), since: open * 60 })
      minutes = kept
      readTo = current
      newest = current
    },
    all: (count) => sum(last(count).map(({ all }) => all)),
    user: (id, count) => sum(last(count).flatMap(({ users }) => users.get(id) ?? [])),
    channels(count) {
      const sums = new Map<number, Count>()
      for (const { channels } of last(count))
        for (const [id, { requests, failed }] of channels) add(sums, id, requests, failed)
      return sums
    },
    firstByte(count) {
      const times = new Map<number, number>()
      for (const minute of last(count))
        for (const [step, responses] of minute.times) times.set(step, (times.get(step) ?? 0) + responses)
      const requests = [...times.values()].reduce((total, each) => total + each, 0)
      return { p95: firstByteOf(times, 0.95), requests }
    },
  }
}

async function readInto(minutes: Map<number, Minute>, db: Db, range: MinuteRange): Promise<void> {
  const of = (number: number): Minute => {
    const minute = minutes.get(number) ?? {
      all: { requests: 0, failed: 0 },
      users: new Map(),
      channels: new Map(),
      times: new Map(),
    }
    minutes.set(number, minute)
    return minute
  }
  const calls = await callsByMinute(db, range)
  const times = await timesByMinute(db, range)
  const attempts = await attemptsByMinute(db, range)
  for (const { minute: number, user_id, channel_id, requests, failed, served, interrupted } of calls) {
    const { all, users, channels } = of(number)
    all.requests += requests
    all.failed += failed
    add(users, user_id, requests, failed)
    if (channel_id > 0 && served > 0) add(channels, channel_id, served, interrupted)
  }
  for (const { minute: number, step, responses } of times) {
    const { times: known } = of(number)
    known.set(step, (known.get(step) ?? 0) + responses)
  }
  for (const row of attempts)
    for (const channelId of failedAt(row)) add(of(row.minute).channels, channelId, row.calls, row.calls)
}

const attemptsSchema = z.array(z.object({ channelId: z.int(), status: z.int(), error: z.string() }))

/** Statuses with which an upstream reports that the request itself is invalid. */
const fromCaller: ReadonlySet<number> = new Set([400, 413, 414, 415, 422])

/**
 * The channels on which attempts failed. The last attempt of a charged call is skipped, because the request itself is
 * counted for that channel.
 */
function failedAt({ type, attempts }: MinuteAttempts): number[] {
  const parsed = z.safeParse(attemptsSchema, tryParse(attempts))
  if (!parsed.success) return []
  const earlier = type === logType.consume ? parsed.data.slice(0, -1) : parsed.data
  return earlier
    .filter(({ error, status, channelId }) => error !== '' && channelId > 0 && !fromCaller.has(status))
    .map(({ channelId }) => channelId)
}

function add<Key>(counts: Map<Key, Count>, key: Key, requests: number, failed: number): void {
  const count = counts.get(key) ?? { requests: 0, failed: 0 }
  counts.set(key, { requests: count.requests + requests, failed: count.failed + failed })
}

function sum(counts: readonly Count[]): Count {
  return {
    requests: counts.reduce((total, { requests }) => total + requests, 0),
    failed: counts.reduce((total, { failed }) => total + failed, 0),
  }
}
