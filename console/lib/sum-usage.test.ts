import { expect, test } from 'bun:test'
import type { Log } from '../../contract/api/log.ts'
import { usageOf } from './sum-usage.ts'

const at = (text: string) => Date.parse(text) / 1000
const row = (time: string, model: string, quota: number) =>
  ({ created_at: at(time), model_name: model, token_name: 't', quota, prompt_tokens: 2, completion_tokens: 3 }) as Log

const rows = [
  row('2026-03-02T23:30:00Z', 'a', 10),
  row('2026-03-03T00:30:00Z', 'a', 20),
  row('2026-03-03T12:00:00Z', 'b', 5),
  row('2026-03-04T12:00:00Z', 'c', 1),
]
const range = { start_timestamp: at('2026-03-02T00:00:00Z'), end_timestamp: at('2026-03-04T23:59:59Z') }

test('rows are summed by day and group, and groups beyond the top ones are combined', () => {
  const usage = usageOf(rows, { ...range, group_by: 'model', rollup: 'day', top: 1, utc_offset: 0 })
  expect(usage.buckets).toEqual(['2026-03-02', '2026-03-03', '2026-03-04'].map((day) => at(`${day}T00:00:00Z`)))
  expect(usage.values).toEqual([10, 25, 1])
  expect(usage.total).toMatchObject({ requests: 4, quota: 36, tokens: 20 })
  expect(usage.groups).toMatchObject([{ key: 'a', values: [10, 20, 0] }])
  expect(usage.other).toMatchObject({ groups: 2, values: [0, 5, 1] })
})

test("days begin at midnight in the reader's time zone, weeks on Monday, months on their first day", () => {
  const day = usageOf(rows, { ...range, rollup: 'day', utc_offset: -60 })
  expect(day.values).toEqual([0, 30, 5, 1])
  const [monday] = usageOf(rows, { ...range, rollup: 'week', utc_offset: 0 }).buckets
  expect(new Date((monday ?? 0) * 1000).toISOString()).toBe('2026-03-02T00:00:00.000Z')
  const [month] = usageOf(rows, { ...range, rollup: 'month', utc_offset: 120 }).buckets
  expect(month).toBe(at('2026-02-28T22:00:00Z'))
})

test('rows outside the range do not count', () => {
  const usage = usageOf(rows, {
    start_timestamp: at('2026-03-03T00:00:00Z'),
    end_timestamp: at('2026-03-03T23:59:59Z'),
  })
  expect(usage.total.quota).toBe(25)
})

test('rows with another name or from another channel do not count', () => {
  const own = rows.map((each, index) => ({ ...each, username: index === 0 ? 'ann' : 'ben', channel: index }))
  const sumOf = (filter: object) => usageOf(own, { ...range, ...filter }).total.quota
  expect(sumOf({ model_name: 'a' })).toBe(30)
  expect(sumOf({ model_name: 'a', username: 'ben' })).toBe(20)
  expect(sumOf({ channel: '3' })).toBe(1)
  expect(sumOf({ token_name: 'other' })).toBe(0)
  expect(sumOf({ model_name: undefined, username: '', channel: undefined })).toBe(36)
})
