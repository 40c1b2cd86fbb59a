import { expect, test } from 'bun:test'
import { currencyText, currencyToQuota, quotaToAmount, quotaToCurrency } from './quota.ts'

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

test('typed amounts become quota units exactly', () => {
  for (const [typed, units] of [
    ['1', 500_000],
    ['0.29', 145_000],
    ['1.005', 502_500],
    ['.5', 250_000],
    ['5.', 2_500_000],
    [' $1,234.56 ', 617_280_000],
    ['-0.000002', -1],
    ['−3', -1_500_000],
    ['2000000000', 1e15],
    ['0', 0],
    ['0.00', 0],
  ] as const)
    expect([typed, currencyToQuota(typed, 500_000)]).toEqual([typed, units])
  expect(currencyToQuota('0.1', 3)).toBe(1)
  expect(currencyToQuota('1.1', 333.33)).toBe(367)
})

test('an amount between two units is rounded, but never to zero', () => {
  expect(currencyToQuota('0.0000029', 500_000)).toBe(1)
  expect(currencyToQuota('0.0000031', 500_000)).toBe(2)
  expect(currencyToQuota('0.0000000001', 500_000)).toBe(1)
  expect(currencyToQuota('-0.0000000001', 500_000)).toBe(-1)
})

test('text that is not a plain number is not an amount', () => {
  for (const typed of ['', '-', '.', '$', 'abc', '1,5', '1,00', '1e3', '0x10', '1.2.3', '--1', '1 USD', '9'.repeat(41)])
    expect([typed, currencyToQuota(typed, 500_000)]).toEqual([typed, undefined])
})

test('the amount shown for a quota converts back to the same quota', () => {
  expect(quotaToAmount(500_000, 500_000)).toBe('1.00')
  expect(quotaToAmount(250_000, 500_000)).toBe('0.50')
  expect(quotaToAmount(-1200, 500_000)).toBe('-0.0024')
  expect(quotaToAmount(1, 500_000)).toBe('0.000002')
  expect(quotaToAmount(Number.NaN, 500_000)).toBe('')
  for (const perUnit of [500_000, 1, 3, 333.33, 0.01, 7_777_777])
    for (const quota of [0, 1, 7, -13, 99_999, 123_456_789, 1e15])
      expect([perUnit, quota, currencyToQuota(quotaToAmount(quota, perUnit), perUnit)]).toEqual([perUnit, quota, quota])
})
