import * as z from 'zod/mini'
import type { ChannelHealth, TimelineEntry } from '../../../contract/api/channel-health.ts'
import { api } from '../../../contract/api/index.ts'
import { ApiFailure } from '../../http/api-failure.ts'
import { type ApiRouter, serve } from '../../http/serve-endpoint.ts'
import { type Clock, epochSeconds } from '../../lib/clock.ts'
import { tryParse } from '../../lib/json.ts'
import { channelTests } from '../../store/channels/channel-tests.ts'
import { channelActs } from '../../store/channels/channel-timeline.ts'
import { type AttemptsRow, channelTimes, rowsWithAttempts } from '../../store/channels/channel-traffic.ts'
import { channelById } from '../../store/channels/channels.ts'
import { watchedChannels } from '../../store/channels/watched-channels.ts'
import type { Db } from '../../store/store.ts'
import { firstByteOf } from '../../store/usage/first-byte-steps.ts'
import { attemptsByHour } from '../../store/usage/hourly.ts'
import type { ApiDeps } from '../deps.ts'

const hourSeconds = 3600
const dayHours = 24
const freshMs = 5000
const mostEntries = 50

type Health = z.output<typeof api.channel.health.data>

/**
 * The health of the channels, measured from real traffic, and the history of one channel. Must be mounted before
 * `/api/channel/{id}`.
 */
export function mountChannelHealth(router: ApiRouter, { store, clock }: Pick<ApiDeps, 'store' | 'clock'>): void {
  let cached: { atMs: number; data: Promise<Health> } | undefined

  serve(router, api.channel.health, () => {
    const atMs = clock.nowMs()
    if (cached && atMs - cached.atMs < freshMs) return cached.data
    const data = readHealth(store.read, clock)
    cached = { atMs, data }
    data.catch(() => {
      cached = undefined
    })
    return data
  })

  serve(router, api.channel.timeline, async ({ params }) => {
    if (!(await channelById(store.read, params.id))) throw new ApiFailure('This channel does not exist.')
    return timelineOf(store.read, params.id)
  })
}

async function readHealth(db: Db, clock: Clock): Promise<Health> {
  const to = Math.floor(epochSeconds(clock) / hourSeconds) + 1
  const from = to - dayHours
  const since = from * hourSeconds
  const [channels, attempts, times, rows] = await Promise.all([
    watchedChannels(db),
    attemptsByHour(db, { from, to }),
    channelTimes(db, since),
    rowsWithAttempts(db, since),
  ])
  const errors = lastErrors(rows)
  const byChannel = Map.groupBy(attempts, ({ channel }) => channel)
  const timesOf = Map.groupBy(times, ({ channel }) => channel)
  const all = attempts.reduce((sum, each) => sum + each.attempts, 0)
  return {
    starts: Array.from({ length: dayHours }, (_, index) => (from + index) * hourSeconds),
    channels: channels.map((channel): ChannelHealth => {
      const hours = byChannel.get(channel.id) ?? []
      const perHour = (name: 'attempts' | 'failed') =>
        Array.from({ length: dayHours }, (_, index) => hours.find(({ hour }) => hour === from + index)?.[name] ?? 0)
      const steps = new Map((timesOf.get(channel.id) ?? []).map(({ step, responses }) => [step, responses]))
      return {
        ...channel,
        attempts: perHour('attempts'),
        failed: perHour('failed'),
        share: hours.reduce((sum, each) => sum + each.attempts, 0) / Math.max(1, all),
        first_byte_p50: firstByteOf(steps, 0.5),
        first_byte_p95: firstByteOf(steps, 0.95),
        last_error: errors.get(channel.id) ?? null,
      }
    }),
  }
}

const attemptsSchema = z.array(z.object({ channelId: z.int(), status: z.int(), error: z.string() }))

/** The newest failed attempt of each channel. Rows come newest first. */
function lastErrors(rows: readonly AttemptsRow[]): Map<number, NonNullable<ChannelHealth['last_error']>> {
  const errors = new Map<number, NonNullable<ChannelHealth['last_error']>>()
  for (const { created_at: time, attempts } of rows) {
    const parsed = z.safeParse(attemptsSchema, tryParse(attempts))
    for (const { channelId, status, error: message } of parsed.success ? parsed.data.toReversed() : [])
      if (message !== '' && !errors.has(channelId)) errors.set(channelId, { time, status, message })
  }
  return errors
}

async function timelineOf(db: Db, id: number): Promise<TimelineEntry[]> {
  const [acts, tests] = await Promise.all([channelActs(db, id, mostEntries), channelTests(db, id)])
  const entries: TimelineEntry[] = [
    ...acts.map(({ created_at, actor_name, action, detail }) => ({
      time: created_at,
      kind: actor_name === '' ? ('event' as const) : ('change' as const),
      action,
      actor: actor_name,
      detail,
      ok: true,
      model: '',
      response_time: 0,
    })),
    ...tests.map(({ created_at, model, ok, elapsed_time, message }) => ({
      time: created_at,
      kind: 'test' as const,
      action: '',
      actor: '',
      detail: message,
      ok,
      model,
      response_time: elapsed_time,
    })),
  ]
  return entries.sort((a, b) => b.time - a.time).slice(0, mostEntries)
}
