import { expect, test } from 'bun:test'
import { rangeOf } from '../pages/log/range.ts'
import { timeOf } from '../pages/usage/range.ts'
import { sinceDays } from './days.ts'

const now = 1_700_000_123

test('a range of 7 days begins at the same moment on every page', () => {
  const from = sinceDays(7, now)
  expect(from % 3600).toBe(0)
  expect(timeOf({ range: '7d', from: '', to: '' }, now)?.from).toBe(from)
  expect(rangeOf({ from: '7d' }, now).start).toBe(from)
  expect(rangeOf({ from: '30d' }, now).start).toBe(sinceDays(30, now))
})

test('the one-hour range in the log begins at a whole minute', () => {
  expect(rangeOf({ from: '1h' }, now).start).toBe(Math.floor((now - 3600) / 60) * 60)
})
