import { expect, test } from 'bun:test'
import type { UsageRollup } from '../../../contract/api/usage.ts'
import { fixedZone, timeZone } from '../../lib/time-zone.ts'
import { planBuckets } from './usage-buckets.ts'

const hoursOf = (text: string) => Date.parse(text) / 3_600_000
const namesOf = (from: string, to: string, rollup: UsageRollup, offset = 0) =>
  planBuckets({ from: hoursOf(from), to: hoursOf(to) }, rollup, fixedZone(offset)).starts.map((start) =>
    new Date(start * 1000).toISOString().slice(0, 16),
  )

/** The index of the bucket that contains an hour, computed from the bucket number that the database returns. */
function indexOf(hour: string, from: string, to: string, rollup: UsageRollup, offset: number): number {
  const plan = planBuckets({ from: hoursOf(from), to: hoursOf(to) }, rollup, fixedZone(offset))
  return plan.indexOf(
    Math.trunc((hoursOf(hour) * 60 + (plan.parts[0]?.unit.shift ?? 0)) / (plan.parts[0]?.unit.minutes ?? 0)),
  )
}

test('divides a range into hours; an empty range has no hours', () => {
  expect(namesOf('2024-02-28T22:00Z', '2024-02-29T01:00Z', 'hour')).toEqual([
    '2024-02-28T22:00',
    '2024-02-28T23:00',
    '2024-02-29T00:00',
  ])
  expect(namesOf('2024-02-28T22:00Z', '2024-02-28T22:00Z', 'hour')).toEqual([])
})

test("days begin in the reader's time zone", () => {
  expect(namesOf('2024-02-28T10:00Z', '2024-03-01T10:00Z', 'day')).toEqual([
    '2024-02-28T00:00',
    '2024-02-29T00:00',
    '2024-03-01T00:00',
  ])
  expect(namesOf('2024-02-28T10:00Z', '2024-02-28T18:00Z', 'day', 480)).toEqual([
    '2024-02-27T16:00',
    '2024-02-28T16:00',
  ])
  expect(namesOf('2024-02-28T04:00Z', '2024-02-28T06:00Z', 'day', -300)).toEqual([
    '2024-02-27T05:00',
    '2024-02-28T05:00',
  ])
})

test('weeks begin on Monday, months on the first', () => {
  expect(namesOf('2024-02-25T12:00Z', '2024-03-04T01:00Z', 'week')).toEqual([
    '2024-02-19T00:00',
    '2024-02-26T00:00',
    '2024-03-04T00:00',
  ])
  expect(namesOf('2023-12-31T22:00Z', '2024-03-01T00:00Z', 'month', 120)).toEqual(
    ['2023-12-31T22:00', '2024-01-31T22:00', '2024-02-29T22:00'].slice(0, 3),
  )
})

test('an hour belongs to the bucket in which it begins', () => {
  const [from, to] = ['2024-02-25T00:00Z', '2024-03-10T00:00Z']
  expect(indexOf('2024-02-25T23:00Z', from, to, 'day', 0)).toBe(0)
  expect(indexOf('2024-02-26T00:00Z', from, to, 'day', 0)).toBe(1)
  expect(indexOf('2024-02-25T15:00Z', from, to, 'day', 480)).toBe(0)
  expect(indexOf('2024-02-25T16:00Z', from, to, 'day', 480)).toBe(1)
  // In India the day begins at 18:30 UTC.
  expect(indexOf('2024-02-25T18:00Z', from, to, 'day', 330)).toBe(0)
  expect(indexOf('2024-02-25T19:00Z', from, to, 'day', 330)).toBe(1)
  expect(indexOf('2024-02-26T00:00Z', from, to, 'week', 0)).toBe(1)
  expect(indexOf('2024-03-01T00:00Z', from, to, 'month', 0)).toBe(1)
  expect(indexOf('2024-03-01T00:00Z', from, to, 'month', -60)).toBe(0)
})

test('the first days of 1970 are divided like other days', () => {
  expect(indexOf('1970-01-01T00:00Z', '1970-01-01T00:00Z', '1970-01-02T00:00Z', 'day', -840)).toBe(0)
  expect(indexOf('1970-01-01T15:00Z', '1970-01-01T00:00Z', '1970-01-02T00:00Z', 'day', -840)).toBe(1)
})

test('days, weeks and months begin at midnight before and after a clock change', () => {
  const berlin = timeZone('Europe/Berlin')
  if (!berlin) throw new Error('no time zone')
  const namesIn = (from: string, to: string, rollup: UsageRollup) =>
    planBuckets({ from: hoursOf(from), to: hoursOf(to) }, rollup, berlin).starts.map((start) =>
      new Date(start * 1000).toISOString().slice(0, 16),
    )
  // In Berlin, the last Sunday of October has 25 hours, and the last Sunday of March has 23.
  expect(namesIn('2023-10-27T22:00Z', '2023-10-30T23:00Z', 'day')).toEqual([
    '2023-10-27T22:00',
    '2023-10-28T22:00',
    '2023-10-29T23:00',
  ])
  expect(namesIn('2024-03-29T23:00Z', '2024-04-01T22:00Z', 'day')).toEqual([
    '2024-03-29T23:00',
    '2024-03-30T23:00',
    '2024-03-31T22:00',
  ])
  expect(namesIn('2023-09-30T22:00Z', '2023-11-30T23:00Z', 'month')).toEqual(['2023-09-30T22:00', '2023-10-31T23:00'])
  expect(namesIn('2023-10-22T22:00Z', '2023-11-05T23:00Z', 'week')).toEqual(['2023-10-22T22:00', '2023-10-29T23:00'])
})

test('each part of a range has the time zone offset of that time', () => {
  const berlin = timeZone('Europe/Berlin')
  if (!berlin) throw new Error('no time zone')
  const { parts, indexOf } = planBuckets(
    { from: hoursOf('2023-10-28T22:00Z'), to: hoursOf('2023-10-30T23:00Z') },
    'day',
    berlin,
  )
  const indexes = parts.flatMap(({ from, to, unit }) =>
    Array.from({ length: to - from }, (_, n) => indexOf(Math.trunc(((from + n) * 60 + unit.shift) / unit.minutes))),
  )
  expect(indexes).toEqual([...Array.from({ length: 25 }, () => 0), ...Array.from({ length: 24 }, () => 1)])
})
