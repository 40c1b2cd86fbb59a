import { type Overview, overviewPoints } from '../../../contract/api/overview.ts'
import { type Clock, epochSeconds } from '../../lib/clock.ts'
import type { Db } from '../../store/store.ts'
import { callsBySlot, timesBySlot } from '../../store/usage/call-slots.ts'
import { firstByteOf } from '../../store/usage/first-byte-steps.ts'
import { idsSince } from '../../store/usage/recent-rows.ts'

const slotSeconds = 300
const kept = 2 * overviewPoints
/** A row may be committed up to this long after its timestamp, so slots are read again until this time has passed. */
const settleSeconds = 120
/** The number of ids per query. It is limited so that the process is not blocked for long. */
const idsPerStep = 20_000
/**
 * Slots that are read again are read from this many ids before their first known row, because rows with lower ids may
 * have been committed later.
 */
const idGap = 200

interface Slot {
  requests: number
  failed: number
  tokens: number
  quota: number
  people: Set<number>
  /** The number of responses for each step of the histogram of first-byte times. */
  times: Map<number, number>
  firstId: number
}

type Sum = 'requests' | 'failed' | 'tokens' | 'quota'

/**
 * Figures of the last two hours in five-minute slots. Finished slots are cached, so a call reads only the rows since
 * shortly before the previous call.
 */
export function createLastHour(clock: Clock): (db: Db) => Promise<Overview['hour']> {
  const slots = new Map<number, Slot>()
  let readTo: number | undefined

  function slotOf(number: number): Slot {
    const slot = slots.get(number) ?? emptySlot()
    slots.set(number, slot)
    return slot
  }

  async function read(db: Db, since: number, first: number, last: number): Promise<void> {
    for (let from = first; from <= last; from += idsPerStep) {
      const range = { first: from, last: Math.min(last, from + idsPerStep - 1), since }
      const [calls, times] = await Promise.all([
        callsBySlot(db, range, slotSeconds),
        timesBySlot(db, range, slotSeconds),
      ])
      for (const { slot: number, user_id, first_id, ...sums } of calls) {
        const slot = slotOf(number)
        for (const name of ['requests', 'failed', 'tokens', 'quota'] as const) slot[name] += sums[name]
        slot.people.add(user_id)
        slot.firstId = Math.min(slot.firstId, first_id)
      }
      for (const { slot: number, step, responses } of times) {
        const { times: known } = slotOf(number)
        known.set(step, (known.get(step) ?? 0) + responses)
      }
    }
  }

  return async (db) => {
    const now = epochSeconds(clock)
    const newest = Math.floor(now / slotSeconds)
    const oldest = newest - kept + 1
    const open = readTo === undefined ? oldest : Math.max(oldest, Math.floor((readTo - settleSeconds) / slotSeconds))
    const again = [...slots].filter(([number]) => number >= open)
    const bounds = await idsSince(db, open * slotSeconds)
    for (const [number] of slots) if (number < oldest || number >= open) slots.delete(number)
    const known = Math.min(...again.map(([, { firstId }]) => firstId)) - idGap
    await read(
      db,
      open * slotSeconds,
      Number.isFinite(known) ? Math.max(known, bounds.first) : bounds.first,
      bounds.last,
    )
    readTo = now
    return viewOf(slots, newest, now)
  }
}

function emptySlot(): Slot {
  const sums = { requests: 0, failed: 0, tokens: 0, quota: 0 }
  return { ...sums, people: new Set(), times: new Map(), firstId: Number.POSITIVE_INFINITY }
}

function viewOf(slots: ReadonlyMap<number, Slot>, newest: number, now: number): Overview['hour'] {
  const hour = (last: number) =>
    Array.from({ length: overviewPoints }, (_, index) => slots.get(last - overviewPoints + 1 + index) ?? emptySlot())
  const [current, earlier] = [hour(newest), hour(newest - overviewPoints)]
  const total = (of: readonly Slot[], name: Sum) => of.reduce((sum, slot) => sum + slot[name], 0)
  const sum = (name: Sum) => ({
    now: total(current, name),
    before: total(earlier, name),
    points: current.map((slot) => slot[name]),
  })
  const people = (of: readonly Slot[]) => new Set(of.flatMap((slot) => [...slot.people])).size
  const time = (share: number) => ({
    now: firstByteOf(together(current), share),
    before: firstByteOf(together(earlier), share),
    points: current.map((slot) => firstByteOf(slot.times, share)),
  })
  const first = newest - overviewPoints + 1
  return {
    seconds: now - first * slotSeconds,
    starts: current.map((_, index) => (first + index) * slotSeconds),
    requests: sum('requests'),
    failed: sum('failed'),
    tokens: sum('tokens'),
    quota: sum('quota'),
    people: { now: people(current), before: people(earlier), points: current.map((slot) => slot.people.size) },
    first_byte_p50: time(0.5),
    first_byte_p95: time(0.95),
  }
}

function together(slots: readonly Slot[]): Map<number, number> {
  const all = new Map<number, number>()
  for (const { times } of slots) for (const [step, count] of times) all.set(step, (all.get(step) ?? 0) + count)
  return all
}
