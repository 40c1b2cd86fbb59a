import { expect, test } from 'bun:test'
import { pageNumbers } from './page-numbers.ts'

test('shows the first, last, current and neighbouring pages, with 0 for each gap of two or more pages', () => {
  expect(pageNumbers(1, 1)).toEqual([1])
  expect(pageNumbers(1, 3)).toEqual([1, 2, 3])
  expect(pageNumbers(1, 9)).toEqual([1, 2, 0, 9])
  expect(pageNumbers(3, 9)).toEqual([1, 2, 3, 4, 0, 9])
  expect(pageNumbers(4, 9)).toEqual([1, 2, 3, 4, 5, 0, 9])
  expect(pageNumbers(5, 9)).toEqual([1, 0, 4, 5, 6, 0, 9])
  expect(pageNumbers(9, 9)).toEqual([1, 0, 8, 9])
})
