import { expect, test } from 'bun:test'
import { compareValues } from './compare-values.ts'

const sorted = (values: unknown[]) => [...values].sort((a, b) => compareValues(a, b, 'en'))

test('numbers are ordered by size, text by locale, and missing values come last', () => {
  expect(sorted([10, 9, -1, 100])).toEqual([-1, 9, 10, 100])
  expect(sorted(['b', 'a10', 'a9', 'a'])).toEqual(['a', 'a9', 'a10', 'b'])
  expect(sorted(['', 'x', null, 'a'])).toEqual(['a', 'x', '', null])
})
