import { expect, test } from 'bun:test'
import { rollupOf, rollupsOf, timeOf, type UsageRange } from './range.ts'

const day = 86_400
const now = 1_000 * day + 5_000
const hour = 1_000 * day + 7_200
const own = (from: number | '', to: number | ''): UsageRange => ({
  range: 'custom',
  from: String(from),
  to: String(to),
})

test('a range without an end ends with the current hour, and a range without a start covers 30 days', () => {
  expect(timeOf({ range: '7d', from: '', to: '' }, now)).toEqual({ from: hour - 7 * day, to: hour })
  expect(timeOf(own('', ''), now)).toEqual({ from: hour - 30 * day, to: hour })
  expect(timeOf(own(900 * day, ''), now)).toEqual({ from: 900 * day, to: hour })
  expect(timeOf(own('', 900 * day), now)).toEqual({ from: 870 * day, to: 900 * day })
  expect(timeOf(own('', 10 * day), now)).toEqual({ from: 0, to: 10 * day })
})

test('a range that ends before it starts is invalid', () => {
  expect(timeOf(own(10 * day, 10 * day), now)).toBeUndefined()
  expect(timeOf(own(11 * day, 10 * day), now)).toBeUndefined()
  expect(timeOf(own(hour + 1, ''), now)).toBeUndefined()
})

test('a bar size is offered only if it gives at most 1,000 bars, but months are always offered', () => {
  expect(rollupsOf(own(0, 41 * day), now)).toEqual(['hour', 'day', 'week', 'month'])
  expect(rollupsOf(own(0, 42 * day), now)).toEqual(['day', 'week', 'month'])
  expect(rollupsOf(own(0, 1_000 * day), now)).toEqual(['week', 'month'])
  expect(rollupsOf(own(0, 100_000 * day), now)).toEqual(['month'])
})

test('the default bar is an hour for ranges of up to two days, otherwise a day or, if there would be too many bars, longer', () => {
  expect(rollupOf(own(0, 2 * day), undefined, now)).toBe('hour')
  expect(rollupOf(own(0, 3 * day), undefined, now)).toBe('day')
  expect(rollupOf({ range: '90d', from: '', to: '' }, 'hour', now)).toBe('day')
  expect(rollupOf({ range: '90d', from: '', to: '' }, 'week', now)).toBe('week')
  expect(rollupOf(own(0, 2_000 * day), undefined, now)).toBe('week')
})
