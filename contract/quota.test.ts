import { expect, test } from 'bun:test'
import { currencyText, quotaToCurrency } from './quota.ts'

test('amounts are grouped in thousands, whatever their size and sign', () => {
  expect(quotaToCurrency(100_000_000_000, 500_000)).toBe('$200,000.00')
  expect(quotaToCurrency(-617_283_945_000, 500_000, 6)).toBe('-$1,234,567.890000')
  expect(currencyText('¥', 999.999)).toBe('¥1,000.00')
  expect(currencyText('$', 1234, 0)).toBe('$1,234')
  expect(currencyText('$', 12.3456789, 6)).toBe('$12.345679')
})

test('an amount that is rounded to zero has no sign', () => {
  expect(quotaToCurrency(-1200, 500_000)).toBe('$0.00')
  expect(quotaToCurrency(-1200, 500_000, 4)).toBe('-$0.0024')
  expect(quotaToCurrency(-0, 500_000)).toBe('$0.00')
})
