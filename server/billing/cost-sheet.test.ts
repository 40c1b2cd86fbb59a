import { describe, expect, test } from 'bun:test'
import type { Usage } from '../../contract/usage.ts'
import type { CostRates } from './cost-sheet.ts'
import { chargeTokens } from './price.ts'
import { createPriceBook } from './price-book.ts'

const book = createPriceBook({ QuotaPerUnit: '500000' })

function costOf(model: string, rates: CostRates, usage: Usage): number {
  const costing = book.costing(model, 1, { rates })
  if (!costing) throw new Error('no cost')
  return chargeTokens(usage, costing.sheet, costing.ratio)
}

/** Pseudo-random numbers from a seed, each below a limit. */
function createRandom(seed: number) {
  let state = seed
  return (below: number) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fff_ffff
    return (state >>> 8) % below
  }
}

describe('costs', () => {
  test('rates in dollars become quota at the rate of the installation, rounded up once', () => {
    const rates = { input: 2_500_000n, output: 10_000_000n }
    // $2.50 and $10 per million tokens, at 500,000 units per dollar, are 1.25 and 5 units per token.
    expect(costOf('some-model', rates, { promptTokens: 1000, completionTokens: 100 })).toBe(1750)
    expect(costOf('some-model', rates, { promptTokens: 1, completionTokens: 0 })).toBe(2)
    const other = createPriceBook({ QuotaPerUnit: '1000000' }).costing('some-model', 1, { rates })
    expect(other && chargeTokens({ promptTokens: 1000, completionTokens: 100 }, other.sheet, other.ratio)).toBe(3500)
  })

  test('a price for each request is added, or is the whole cost', () => {
    const usage = { promptTokens: 1000, completionTokens: 0 }
    expect(costOf('some-model', { request: 10_000n }, usage)).toBe(5000)
    expect(costOf('some-model', { request: 10_000n, input: 2_000_000n }, usage)).toBe(6000)
  })

  test('cached tokens have their own rate, or the same discount on input as in the price list', () => {
    const usage = { promptTokens: 1000, completionTokens: 0, cachedTokens: 1000 }
    const input = 3_000_000n
    expect(costOf('claude-sonnet-4-5', { input, cached: 1_000_000n }, usage)).toBe(500)
    // The list price of cached input is a tenth of the price of input.
    expect(costOf('claude-sonnet-4-5', { input, output: 1n }, usage)).toBe(150)
    // Without a list price, cached tokens cost as much as other tokens.
    expect(costOf('some-model', { input }, usage)).toBe(1500)
  })

  test('a multiplier of the price list is exact, and a model without a price has no cost', () => {
    const priced = createPriceBook({ ModelRatio: '{"m":1}' })
    const costing = priced.costing('m', 1, { multiplier: 333_333n })
    const usage = { promptTokens: 3_000_000, completionTokens: 0 }
    expect(costing && chargeTokens(usage, costing.sheet, costing.ratio)).toBe(999_999)
    expect(priced.costing('unknown', 1, { multiplier: 1_000_000n })).toBeUndefined()
  })

  test('a model that is not charged by tokens has a cost only if there is a rate per request', () => {
    expect(book.costing('whisper-1', 1, { rates: { input: 1_000_000n } })).toBeUndefined()
    expect(book.costing('dall-e-3', 1, { rates: { request: 40_000n } })?.sheet.perCall).toBe(20_000_000_000_000_000n)
  })

  test('property: for any usage, the cost is the exact sum over all token classes, rounded up', () => {
    const random = createRandom(7)
    for (let round = 0; round < 2000; round++) {
      const rate = () => BigInt(random(50_000_001))
      const rates = { input: rate(), output: rate(), cached: rate(), cacheWrite: rate(), request: rate() }
      const promptTokens = random(200_000)
      const cachedTokens = random(promptTokens + 1)
      const cacheWriteTokens = random(promptTokens - cachedTokens + 1)
      const completionTokens = random(20_000)
      const plain = promptTokens - cachedTokens - cacheWriteTokens
      // Rates are in millionths of a dollar, per million tokens or per request. Multiplying a rate by the tokens, or
      // the rate per request by a million, gives an amount in 1e-12 dollars.
      const exact =
        BigInt(plain) * rates.input +
        BigInt(cachedTokens) * rates.cached +
        BigInt(cacheWriteTokens) * rates.cacheWrite +
        BigInt(completionTokens) * rates.output +
        rates.request * 1_000_000n
      const units = (exact * 500_000n + 999_999_999_999n) / 1_000_000_000_000n
      const usage = { promptTokens, completionTokens, cachedTokens, cacheWriteTokens }
      expect([usage, costOf('some-model', rates, usage)]).toEqual([usage, Number(units)])
    }
  })

  test('property: with the list prices as rates, the cost is the list price', () => {
    const random = createRandom(11)
    for (const model of ['gpt-4o', 'claude-sonnet-4-5', 'gemini-2.5-pro', 'deepseek-chat']) {
      const list = book.sheet(model, 1)
      if (!list) throw new Error(`${model} has no price`)
      // Picoquota per token × 1e6 ÷ (units per dollar × 1e6) gives millionths of a dollar per million tokens.
      const rate = (price: bigint) => price / 500_000n
      const rates = { input: rate(list.prices.input), output: rate(list.prices.output) }
      for (let round = 0; round < 300; round++) {
        const promptTokens = random(400_000)
        const cachedTokens = random(promptTokens + 1)
        const usage = { promptTokens, cachedTokens, completionTokens: random(9000), reasoningTokens: random(900) }
        expect([model, usage, costOf(model, rates, usage)]).toEqual([
          model,
          usage,
          chargeTokens(usage, list, 1_000_000n),
        ])
      }
    }
  })
})
