import { describe, expect, test } from 'bun:test'
import type { Usage } from '../../contract/usage.ts'
import { scaleDecimal } from '../lib/decimal.ts'
import { chargeTokens, type PriceSheet, quotaOne, ratioOne, tokensAffordable } from './price.ts'
import { createPriceBook } from './price-book.ts'

function micro(text: string): bigint {
  const scaled = scaleDecimal(text, 6)
  if (!scaled || scaled.rounded) throw new Error(`not exact: ${text}`)
  return scaled.value
}

function sheetOf(model: string, options: Record<string, string>): PriceSheet {
  const tables = Object.entries(options).map(([name, value]) => [name, JSON.stringify({ [model]: Number(value) })])
  const sheet = createPriceBook(Object.fromEntries(tables)).sheet(model, 1)
  if (!sheet) throw new Error(`${model} has no price`)
  return sheet
}

const plain = (ratio: string, completionRatio = '1') =>
  sheetOf('some-model', { ModelRatio: ratio, CompletionRatio: completionRatio })
const counts = (promptTokens: number, completionTokens = 0): Usage => ({ promptTokens, completionTokens })

describe('chargeTokens', () => {
  const cases: [string, Usage, PriceSheet, string, number][] = [
    ['100 tokens at ratio 1.1 are 110, not 111', counts(100), plain('1.1'), '1', 110],
    ['one token at ratio 0.000001 is 1', counts(1), plain('0.000001'), '0.000001', 1],
    ['one token at ratio 1 is 1', counts(1), plain('1'), '1', 1],
    ['just above a whole number is rounded up', counts(1_000_001), plain('0.000001'), '1', 2],
    ['exactly a whole number is not rounded up', counts(1_000_000), plain('0.000001'), '1', 1],
    ['0.1 + 0.2 is 0.3', counts(10, 10), plain('0.1', '2'), '1', 3],
    ['no tokens cost nothing', counts(0), plain('30'), '1', 0],
    ['ratio 0 costs nothing', counts(5000, 5000), plain('0'), '1', 0],
    ['group ratio 0 costs nothing', counts(5000, 5000), plain('1'), '0', 0],
    ['a billion tokens at ratio 1000', counts(1e9), plain('1000'), '1', 1e12],
    [
      'a billion tokens at a ratio with many digits',
      counts(1e9 + 1, 1e9 + 1),
      plain('999.999999', '1'),
      '1',
      2_000_000_000_000,
    ],
    ['a charge larger than a number can hold', counts(1e9, 1e9), plain('1000000'), '1000000', Number.MAX_SAFE_INTEGER],
    [
      'reference example A, prices of one-api 0.5.4 (which truncates twice: 1379)',
      counts(1000, 400),
      plain('0.75', '1.333333'),
      '1.2',
      1380,
    ],
    ['reference example B, prices of the main branch', counts(1000, 400), plain('0.25', '3'), '1.2', 660],
    [
      'reference example B with the default price of gpt-3.5-turbo',
      counts(1000, 400),
      sheetOf('gpt-3.5-turbo', {}),
      '1.2',
      660,
    ],
    ['reference example D: an empty answer', counts(0), plain('0.75', '1.333333'), '1.2', 0],
    ['reference example E: 200,000 at ratio 0.9', counts(222_222, 0), plain('0.75'), '1.2', 200_000],
  ]
  test.each(cases)('%s', (_, usage, sheet, group, quota) => {
    expect(chargeTokens(usage, sheet, micro(group))).toBe(quota)
  })

  test('each token class has its own price', () => {
    const sheet = sheetOf('classy', {
      ModelRatio: '1',
      CompletionRatio: '4',
      CacheRatio: '0.1',
      CreateCacheRatio: '1.25',
      AudioRatio: '20',
      AudioCompletionRatio: '2',
      ImageRatio: '3',
    })
    const charge = (usage: Partial<Usage>) => chargeTokens({ ...counts(1000, 1000), ...usage }, sheet, ratioOne)
    expect(charge({})).toBe(1000 + 4000)
    expect(charge({ cachedTokens: 400 })).toBe(600 + 40 + 4000)
    expect(charge({ cacheWriteTokens: 400 })).toBe(600 + 500 + 4000)
    expect(charge({ audioPromptTokens: 100 })).toBe(900 + 2000 + 4000)
    expect(charge({ imagePromptTokens: 100 })).toBe(900 + 300 + 4000)
    expect(charge({ audioCompletionTokens: 100 })).toBe(1000 + 3600 + 4000)
    expect(charge({ reasoningTokens: 900 })).toBe(1000 + 4000)
    expect(charge({ cachedTokens: 400, cacheWriteTokens: 300, audioPromptTokens: 100 })).toBe(
      200 + 40 + 375 + 2000 + 4000,
    )
  })

  test('cached tokens beyond the number of text tokens are charged as audio, and each token is charged once', () => {
    const sheet = sheetOf('classy', { ModelRatio: '1', CacheRatio: '0.1', AudioRatio: '20' })
    const usage = { ...counts(100), cachedTokens: 90, audioPromptTokens: 50 }
    expect(chargeTokens(usage, sheet, ratioOne)).toBe(50 * 0.1 + 40 * 2 + 10 * 20)
  })

  test('cached audio tokens are charged once, at the price of cached audio', () => {
    const sheet = sheetOf('gemini-2.5-flash', {})
    const usage = { ...counts(1000), cachedTokens: 500, audioPromptTokens: 300, cachedAudioTokens: 200 }
    // 200 tokens of cached audio at $0.1, 100 of audio at $1, 300 of cached text at $0.03, and 400 of text at $0.3.
    expect(chargeTokens(usage, sheet, ratioOne)).toBe(Math.ceil(10 + 50 + 4.5 + 60))
  })

  test('cache writes kept for an hour have their own price', () => {
    const sheet = sheetOf('claude-opus-4-5', {})
    const usage = { ...counts(1000), cacheWriteTokens: 1000, cacheWrite1hTokens: 400 }
    expect(chargeTokens(usage, sheet, ratioOne)).toBe(600 * 3.125 + 400 * 5)
  })

  test("if a prompt is longer than a tier's threshold, the tier's prices apply to the whole call", () => {
    const sheet = sheetOf('gemini-2.5-pro', {})
    expect(chargeTokens(counts(200_000, 1000), sheet, ratioOne)).toBe(125_000 + 5000)
    expect(chargeTokens(counts(200_001, 1000), sheet, ratioOne)).toBe(250_002 + 7500)
    expect(chargeTokens({ ...counts(300_000), cachedTokens: 100_000 }, sheet, ratioOne)).toBe(250_000 + 12_500)
  })

  test('a price per call is charged even without tokens, and tokens are then free', () => {
    const sheet = sheetOf('some-call', { ModelPrice: '0.04' })
    expect(chargeTokens(counts(0), sheet, ratioOne)).toBe(20_000)
    expect(chargeTokens(counts(5000, 5000), sheet, micro('0.5'))).toBe(10_000)
  })

  test.each([-1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53])('%p is not a token count', (count) => {
    expect(() => chargeTokens(counts(count), plain('1'), ratioOne)).toThrow(RangeError)
    expect(() => chargeTokens(counts(0, count), plain('1'), ratioOne)).toThrow(RangeError)
  })

  test('for random calls, the charge is the exact price rounded up', () => {
    const random = generator(20_261_121)
    for (let round = 0; round < 5000; round++) {
      const ratio = BigInt(random(5_000_000))
      const completion = BigInt(random(9_000_000))
      const group = BigInt(random(3_000_000))
      const usage = counts(random(2_000_000), random(200_000))
      const sheet = pricedAt(ratio, completion)
      const charged = BigInt(chargeTokens(usage, sheet, group))
      // Checks charged − 1 < exact ≤ charged, with exact as a fraction over 10^18.
      const exact =
        (BigInt(usage.promptTokens) * ratio * 1_000_000n + BigInt(usage.completionTokens) * ratio * completion) * group
      expect(charged * 10n ** 18n >= exact).toBe(true)
      expect(exact === 0n ? charged === 0n : (charged - 1n) * 10n ** 18n < exact).toBe(true)
    }
  })
})

describe('text at group ratio 1, whose price is computed with numbers instead of big integers while they are exact', () => {
  const pico = Number(quotaOne)
  /** Random whole numbers of every order of magnitude up to `largest`. */
  const ofAnySize = (random: (limit: number) => number, largest: number) =>
    Math.floor(Math.min(largest, 2 ** (random(54_000) / 1000)))

  test('the charge is the exact price rounded up', () => {
    const random = generator(20_261_129)
    for (let round = 0; round < 20_000; round++) {
      const input = ofAnySize(random, 2 ** 53 - 1)
      const output = round % 7 === 0 ? pico * random(9) : ofAnySize(random, 2 ** 53 - 1)
      const sheet = picoPriced(BigInt(input), BigInt(output))
      const usage = counts(ofAnySize(random, 2 ** 31), ofAnySize(random, 2 ** 31))
      const exact = BigInt(usage.promptTokens) * BigInt(input) + BigInt(usage.completionTokens) * BigInt(output)
      const charge = (exact + quotaOne - 1n) / quotaOne
      const largest = BigInt(Number.MAX_SAFE_INTEGER)
      expect(BigInt(chargeTokens(usage, sheet, ratioOne))).toBe(charge > largest ? largest : charge)
    }
  })

  test.each([
    ['a whole number of units', 9_007 * pico, 1, 9_007],
    ['one picoquota more', 9_007 * pico + 1, 1, 9_008],
    ['one picoquota less', 9_007 * pico - 1, 1, 9_007],
    ['the largest exact number', Number.MAX_SAFE_INTEGER, 1, 9_008],
    ['beyond it', Number.MAX_SAFE_INTEGER, 3, 27_022],
  ])('%s', (_, input, tokens, charge) => {
    expect(chargeTokens(counts(tokens), picoPriced(BigInt(input), 0n), ratioOne)).toBe(charge)
  })

  test('tokensAffordable returns the largest count that does not cost more than the quota', () => {
    const random = generator(29)
    for (let round = 0; round < 20_000; round++) {
      const sheet = picoPriced(BigInt(ofAnySize(random, 2 ** 50)), BigInt(1_000_000 + ofAnySize(random, 2 ** 50)))
      const prompt = ofAnySize(random, 2 ** 20)
      const quota = ofAnySize(random, 2 ** 24)
      const tokens = tokensAffordable(quota, sheet, ratioOne, prompt)
      if (tokens === -1) expect(chargeTokens(counts(prompt), sheet, ratioOne)).toBeGreaterThan(quota)
      else {
        expect(chargeTokens(counts(prompt, tokens), sheet, ratioOne)).toBeLessThanOrEqual(quota)
        expect(chargeTokens(counts(prompt, tokens + 1), sheet, ratioOne)).toBeGreaterThan(quota)
      }
    }
  })

  test('a token count that is not a number is refused in every token class', () => {
    for (const name of ['cachedTokens', 'cacheWriteTokens', 'audioPromptTokens', 'imagePromptTokens'])
      expect(() => chargeTokens({ ...counts(10, 10), [name]: Number.NaN }, plain('1'), ratioOne)).toThrow(RangeError)
  })
})

describe('tokensAffordable', () => {
  test('returns the largest count that does not cost more than the quota', () => {
    const random = generator(7)
    for (let round = 0; round < 2000; round++) {
      const sheet = pricedAt(BigInt(1 + random(5_000_000)), BigInt(1 + random(9_000_000)))
      const group = BigInt(1 + random(3_000_000))
      const prompt = random(100_000)
      const quota = random(2_000_000)
      const tokens = tokensAffordable(quota, sheet, group, prompt)
      if (tokens === -1) expect(chargeTokens(counts(prompt), sheet, group)).toBeGreaterThan(quota)
      else {
        expect(chargeTokens(counts(prompt, tokens), sheet, group)).toBeLessThanOrEqual(quota)
        expect(chargeTokens(counts(prompt, tokens + 1), sheet, group)).toBeGreaterThan(quota)
      }
    }
  })

  test('handles free completions and a prompt that is too expensive', () => {
    expect(tokensAffordable(10, plain('1', '0'), ratioOne, 10)).toBe(Number.MAX_SAFE_INTEGER)
    expect(tokensAffordable(10, plain('1', '2'), ratioOne, 10)).toBe(0)
    expect(tokensAffordable(10, plain('1', '2'), ratioOne, 11)).toBe(-1)
    expect(tokensAffordable(-5, plain('1', '2'), ratioOne, 0)).toBe(-1)
    expect(tokensAffordable(10, plain('1'), 0n, 1000)).toBe(Number.MAX_SAFE_INTEGER)
  })

  test('takes the classes of the prompt into account', () => {
    const sheet = sheetOf('classy', { ModelRatio: '1', CompletionRatio: '2', CacheRatio: '0.1' })
    const prompt = { ...counts(1000), cachedTokens: 1000 }
    expect(tokensAffordable(200, sheet, ratioOne, prompt)).toBe(50)
    expect(tokensAffordable(200, sheet, ratioOne, 1000)).toBe(-1)
  })
})

/** A sheet built directly from millionths, bypassing the decimal parser. */
function pricedAt(ratio: bigint, completion: bigint): PriceSheet {
  const base = plain('1')
  const input = ratio * ratioOne
  const output = ratio * completion
  const prices = { ...base.prices, input, output, reasoning: output }
  return { ...base, prices }
}

/** A sheet in which text has these prices in picoquota. */
function picoPriced(input: bigint, output: bigint): PriceSheet {
  const base = plain('1')
  return { ...base, prices: { ...base.prices, input, output, reasoning: output } }
}

/** A small seeded generator of pseudo-random integers below a limit. */
function generator(seed: number): (limit: number) => number {
  let state = seed
  return (limit) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * limit)
  }
}

test('quotaOne is the square of ratioOne', () => {
  expect(quotaOne).toBe(ratioOne * ratioOne)
})

describe('a mixed prompt that is partly read from the cache', () => {
  // Text costs 1. Audio and images cost 2. Cache reads cost a tenth of these prices. Cache writes cost a quarter more.
  const sheet = sheetOf('some-model', {
    ModelRatio: '1',
    CompletionRatio: '5',
    CacheRatio: '0.1',
    CreateCacheRatio: '1.25',
    AudioRatio: '2',
    ImageRatio: '2',
  })
  const cases: [string, Omit<Usage, 'completionTokens'>, number][] = [
    ['a fully cached prompt with images', { promptTokens: 1000, imagePromptTokens: 900, cachedTokens: 1000 }, 190],
    [
      'a fully cached prompt with images, with the cached images reported',
      { promptTokens: 1000, imagePromptTokens: 900, cachedTokens: 1000, cachedImageTokens: 900 },
      190,
    ],
    ['a fully cached prompt with audio', { promptTokens: 1000, audioPromptTokens: 900, cachedTokens: 1000 }, 190],
    [
      'a fully cached prompt with audio, with the cached audio reported',
      { promptTokens: 1000, audioPromptTokens: 900, cachedTokens: 1000, cachedAudioTokens: 900 },
      190,
    ],
    [
      'images reported as cached, with text that is not cached',
      { promptTokens: 1000, imagePromptTokens: 900, cachedTokens: 900, cachedImageTokens: 900 },
      280,
    ],
    [
      'more cached images than images (Vertex counts the pages of a document as both)',
      { promptTokens: 1000, imagePromptTokens: 100, cachedTokens: 800, cachedImageTokens: 700 },
      20 + 70 + 200,
    ],
    [
      'counts that exceed the total',
      { promptTokens: 100, audioPromptTokens: 80, imagePromptTokens: 80, cachedTokens: 300 },
      20,
    ],
    ['images written to the cache', { promptTokens: 1000, imagePromptTokens: 900, cacheWriteTokens: 1000 }, 2375],
    [
      'text read from the cache, images and audio written to it',
      {
        promptTokens: 1000,
        audioPromptTokens: 100,
        imagePromptTokens: 100,
        cachedTokens: 800,
        cacheWriteTokens: 200,
      },
      80 + 500,
    ],
  ]
  test.each(cases)('%s', (_, usage, quota) => {
    expect(chargeTokens({ ...usage, completionTokens: 0 }, sheet, ratioOne)).toBe(quota)
  })

  test('never costs more than the same prompt without a cache, whatever usage is reported', () => {
    const counts = [0, 100, 500, 900, 1000, 5000]
    for (const audioPromptTokens of counts)
      for (const imagePromptTokens of counts)
        for (const cachedTokens of counts)
          for (const cachedAudioTokens of counts)
            for (const cachedImageTokens of counts) {
              const prompt = { promptTokens: 1000, completionTokens: 0, audioPromptTokens, imagePromptTokens }
              const cached = { ...prompt, cachedTokens, cachedAudioTokens, cachedImageTokens }
              const quota = chargeTokens(cached, sheet, ratioOne)
              expect(quota).toBeLessThanOrEqual(chargeTokens(prompt, sheet, ratioOne))
              expect(quota).toBeGreaterThanOrEqual(100)
            }
  })

  test('cached images and audio keep their proportion in the built-in prices, too', () => {
    const claude = sheetOf('claude-something', { ModelRatio: '1', ImageRatio: '2', AudioRatio: '2' })
    for (const kind of [{ imagePromptTokens: 1000 }, { audioPromptTokens: 1000 }]) {
      const usage = { promptTokens: 1000, completionTokens: 0, cachedTokens: 1000, ...kind }
      expect(chargeTokens(usage, claude, ratioOne)).toBe(200)
    }
  })
})
