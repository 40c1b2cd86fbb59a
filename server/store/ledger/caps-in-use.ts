import { sql } from 'kysely'
import { capSteps } from '../../../contract/caps.ts'
import type { Store } from '../store.ts'
import { waitingByChannel } from './cap-line.ts'
import { stepsKept, windowEnd, windowStart } from './cap-windows.ts'
import { allCaps, type CapRow } from './caps.ts'

/** A cap, and how much of it is used in its current window. */
export interface CapInUse extends CapRow {
  allowed: number
  used: number
  keysFull: number
  /** The end of the window in epoch seconds; 0 for moving windows and windows that never end. */
  resetsAt: number
}

export interface ChannelInUse {
  id: number
  name: string
  type: number
  status: number
  draining: boolean
  waiting: number
  caps: CapInUse[]
}

const capsPerQuery = 500

/** The current usage of all channels that have caps or are being drained. */
export async function channelsInUse(store: Store, nowMs: number): Promise<ChannelInUse[]> {
  const now = Math.floor(nowMs / 1000)
  const channels = await store.read
    .selectFrom('channels')
    .select(['id', 'name', 'type', 'status', 'draining'])
    .where((eb) => eb.or([eb('capped', '>', 0), eb('draining', '=', sql<boolean>`true`)]))
    .orderBy('id')
    .execute()
  if (channels.length === 0) return []
  const caps = Map.groupBy(await allCaps(store.read), ({ owner_id }) => owner_id)
  const used = await usedNow(store, [...caps.values()].flat(), now)
  const waiting = await waitingByChannel(store, nowMs)
  return channels.map((channel) => ({
    ...channel,
    draining: Boolean(channel.draining),
    waiting: waiting.get(channel.id) ?? 0,
    caps: (caps.get(channel.id) ?? []).map((cap) => inUse(cap, used.get(cap.id) ?? [], now)),
  }))
}

function inUse(cap: CapRow, used: readonly number[], now: number): CapInUse {
  const allowed = cap.most + (cap.raise_until > now ? cap.raise_by : 0)
  const isCalendar = capSteps[cap.period] === undefined
  return {
    ...cap,
    allowed,
    used: Math.max(0, ...used),
    keysFull: cap.owner === 'key' ? used.filter((each) => each >= allowed).length : 0,
    resetsAt: isCalendar ? windowEnd(cap, now) : 0,
  }
}

/**
 * The counts of the current windows, by cap id. A cap of keys has one count for each key, and a cap of a channel has a
 * single count.
 */
async function usedNow({ read }: Store, caps: readonly CapRow[], now: number): Promise<Map<number, number[]>> {
  const used = new Map<number, number[]>()
  for (let from = 0; from < caps.length; from += capsPerQuery) {
    const windows = caps.slice(from, from + capsPerQuery).map((cap) => {
      const step = capSteps[cap.period]
      const after = step === undefined ? windowStart(cap, now) - 1 : windowStart(cap, now) - stepsKept * step
      return sql`(${sql.lit(cap.id)}, ${sql.lit(after)})`
    })
    const { rows } = await sql<{ id: number; used: number }>`
      with windows (id, after) as (values ${sql.join(windows)})
      select w.id, cast(sum(n.used) as bigint) as used from windows w
      join cap_counts n on n.cap_id = w.id and n.start > w.after group by w.id, n.part`.execute(read)
    for (const row of rows) used.set(Number(row.id), [...(used.get(Number(row.id)) ?? []), Number(row.used)])
  }
  return used
}
