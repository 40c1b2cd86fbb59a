import { expect, test } from 'bun:test'
import { dayOf, offsetPieces, startOfDay, type TimeZone, timeZone } from './time-zone.ts'

const zone = (name: string): TimeZone => timeZone(name) ?? expect.unreachable(name)
const at = (text: string) => Date.parse(text) / 1000

test('a zone has a name and an offset; other text is not a zone', () => {
  expect(zone('Asia/Kolkata').offsetAt(at('2026-10-01T00:00:00Z'))).toBe(330)
  expect(zone('UTC').offsetAt(0)).toBe(0)
  for (const name of ['', 'Mars/Base', '../etc', "'; --"]) expect(timeZone(name)).toBeUndefined()
})

test('a month begins and ends at midnight in its time zone, before and after a clock change', () => {
  const berlin = zone('Europe/Berlin')
  expect(startOfDay(berlin, 2026, 10, 1)).toBe(at('2026-09-30T22:00:00Z'))
  expect(startOfDay(berlin, 2026, 11, 1)).toBe(at('2026-10-31T23:00:00Z'))
  expect(startOfDay(zone('America/New_York'), 2026, 12, 32)).toBe(at('2027-01-01T05:00:00Z'))
  expect(dayOf(berlin, at('2026-10-31T22:59:59Z'))).toBe('2026-10-31')
  expect(dayOf(berlin, at('2026-10-31T23:00:00Z'))).toBe('2026-11-01')
})

test('offsetPieces divides a range at the hour in which the offset of the zone changes', () => {
  const hour = (text: string) => at(text) / 3600
  expect(offsetPieces(zone('Europe/Berlin'), at('2026-09-30T22:00:00Z'), at('2026-10-31T22:59:59Z'))).toEqual([
    { from: hour('2026-09-30T22:00:00Z'), offset: 120 },
    { from: hour('2026-10-25T01:00:00Z'), offset: 60 },
  ])
  expect(offsetPieces(zone('Asia/Tokyo'), 0, 1e9)).toHaveLength(1)
})
