import type { histogramOutcomes } from '../../../contract/api/log.ts'
import { logType } from '../../../contract/log-types.ts'
import { countByHour, countBySecond, type LogFilter, logHours, type RowCount } from '../../store/logs/log-hours.ts'
import { filtersOutcomes } from '../../store/logs/log-outcome.ts'
import { countByOutcome } from '../../store/logs/log-searched.ts'
import type { Db } from '../../store/store.ts'

/** The numbers of rows by type and by outcome in each part of a time range. */
export interface Histogram {
  /** Seconds. */
  step: number
  /** Epoch seconds. */
  starts: number[]
  types: { type: number; counts: number[] }[]
  outcomes: { outcome: Outcome; counts: number[] }[]
}

type Outcome = (typeof histogramOutcomes)[number]

const hour = 3600
const day = 24 * hour
/**
 * The possible lengths of a part, in seconds. Parts shorter than an hour are counted from the rows, all others from
 * hourly sums.
 */
const steps = [60, 300, 900, hour, 3 * hour, 6 * hour, 12 * hour, day, 7 * day, 30 * day]
/** The maximum number of rows that are read for one chart. */
const mostRows = 20_000
/** Shifts weeks so that they begin on Monday. 1 January 1970 was a Thursday. */
const mondayShift = 3 * day

interface Ask {
  filter: LogFilter
  /** Maximum number of parts. */
  buckets: number
  /** Minutes. */
  utcOffset: number
  /** Epoch seconds. */
  now: number
}

/** Divides the range of the filter into familiar units in the reader's time zone, and counts the rows in each. */
export async function histogramOf(db: Db, { filter, buckets, utcOffset, now }: Ask): Promise<Histogram> {
  const hours = await logHours(db, filter)
  const newest = hours[0]
  const oldest = hours.at(-1)
  const start = filter.start_timestamp || (oldest ? oldest.hour * hour : now)
  const end = Math.max(start, filter.end_timestamp || Math.max(now, newest ? (newest.hour + 1) * hour - 1 : 0))
  const rows = hours.reduce((sum, each) => sum + each.rows, 0)
  const plan = planSteps({ start, end, buckets, utcOffset, least: rows > mostRows ? hour : 0 })
  const { step, shift, first, count } = plan
  const starts = Array.from({ length: count }, (_, index) => (first + index) * step - shift)
  if (hours.length === 0) return { step, starts, types: [], outcomes: [] }
  const counted = filtersOutcomes(filter)
    ? await countByOutcome(db, filter, { seconds: step, shift })
    : step < hour
      ? await countBySecond(db, filter, hours, step)
      : await countByHour(db, filter, { minutes: step / 60, shift: shift / 60 })
  const inParts = <Key extends string | number>(split: (row: RowCount) => readonly (readonly [Key, number])[]) =>
    inEachPart(counted, split, { first, count })
  return {
    step,
    starts,
    types: inParts(({ type, rows }) => [[type, rows]])
      .sort(([a], [b]) => a - b)
      .map(([type, counts]) => ({ type, counts })),
    outcomes: inParts(outcomesOf)
      .sort(([a], [b]) => outcomeOrder.indexOf(a) - outcomeOrder.indexOf(b))
      .map(([outcome, counts]) => ({ outcome, counts })),
  }
}

const outcomeOrder: readonly Outcome[] = ['succeeded', 'failed', 'other']

/** The counted rows by outcome. */
function outcomesOf({ type, rows, failed }: RowCount): (readonly [Outcome, number])[] {
  if (type === logType.error) return [['failed', rows]]
  if (type !== logType.consume) return [['other', rows]]
  const parts = [['succeeded', rows - failed] as const, ['failed', failed] as const]
  return parts.filter(([, count]) => count > 0)
}

interface Steps {
  step: number
  /** The seconds that are added to a time before it is divided by the step. */
  shift: number
  /** The number of the first part, and how many parts there are. */
  first: number
  count: number
}

function planSteps(ask: { start: number; end: number; buckets: number; utcOffset: number; least: number }): Steps {
  for (let at = 0; ; at++) {
    const step = steps[at] ?? 30 * day * 2 ** (at - steps.length + 1)
    if (step < ask.least) continue
    // The shifted time must not be negative, because the database rounds towards zero. For this reason, `shift` also
    // contains at least one whole part.
    const shift = step <= hour ? 0 : ask.utcOffset * 60 + (step === 7 * day ? mondayShift : 0) + Math.max(step, 7 * day)
    // Hourly sums are counted in the part in which their hour begins.
    const begin = (time: number) => (step < hour ? time : time - (time % hour))
    const first = Math.floor((begin(ask.start) + shift) / step)
    const count = Math.floor((begin(ask.end) + shift) / step) - first + 1
    if (count <= ask.buckets) return { step, shift, first, count }
  }
}

function inEachPart<Key extends string | number>(
  counted: readonly RowCount[],
  split: (row: RowCount) => readonly (readonly [Key, number])[],
  { first, count }: Pick<Steps, 'first' | 'count'>,
): [Key, number[]][] {
  const found = new Map<Key, number[]>()
  for (const row of counted) {
    const index = row.bucket - first
    for (const [key, rows] of split(row)) {
      const counts = found.get(key) ?? Array.from({ length: count }, () => 0)
      found.set(key, counts)
      if (index >= 0 && index < count) counts[index] = (counts[index] ?? 0) + rows
    }
  }
  return [...found]
}
