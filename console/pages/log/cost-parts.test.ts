import { expect, test } from 'bun:test'
import type { Log } from '../../../contract/api/log.ts'
import type { PriceList } from '../../../contract/api/price.ts'
import { splitCost } from './cost-parts.ts'

const row = (fields: Partial<Log>) =>
  ({
    content: 'ratio: 2 × 4 × 1.5',
    model_name: 'm',
    prompt_tokens: 100,
    completion_tokens: 10,
    cached_tokens: 0,
    reasoning_tokens: 0,
    quota: 420,
    ...fields,
  }) as Log
const prices = {
  models: [{ model: 'm', prices: [{ rates: { input: 3, output: 12, cached_input: 0.3, reasoning: 24 } }] }],
} as object as PriceList

test('input and output are split by the ratios of the row', () => {
  expect(splitCost(row({}), undefined)).toEqual({
    parts: [
      { kind: 'input', tokens: 100, quota: 300 },
      { kind: 'output', tokens: 10, quota: 120 },
    ],
    usesCurrentPrices: false,
  })
})

test('cached and reasoning tokens use the current price list', () => {
  const log = row({ cached_tokens: 50, reasoning_tokens: 5, quota: 345 })
  expect(splitCost(log, prices)).toEqual({
    parts: [
      { kind: 'input', tokens: 50, quota: 150 },
      { kind: 'cached', tokens: 50, quota: 15 },
      { kind: 'output', tokens: 5, quota: 60 },
      { kind: 'reasoning', tokens: 5, quota: 120 },
    ],
    usesCurrentPrices: true,
  })
})

test('a service tier multiplies the cost of all tokens, and the rest of the charge is shown as other costs', () => {
  const split = splitCost(row({ content: 'ratio: 2 × 4 × 1.5; service tier × 2; tools: 100', quota: 940 }), undefined)
  expect(split?.parts.map(({ kind, quota }) => [kind, quota])).toEqual([
    ['input', 600],
    ['output', 240],
    ['other', 100],
  ])
})

test('a charge is not split if the parts exceed it or no ratios are recorded', () => {
  expect(splitCost(row({ quota: 100 }), undefined)).toBeUndefined()
  expect(splitCost(row({ content: 'free' }), undefined)).toBeUndefined()
})
