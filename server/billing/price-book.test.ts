import { describe, expect, test } from 'bun:test'
import { parseRatioTable, readRatioTable } from '../settings/ratio-table.ts'
import { chargeTokens, ratioOne } from './price.ts'
import { createPriceBook, type PriceBook } from './price-book.ts'

const dollars = (picoquota: bigint | undefined) => Number(picoquota) / 5e11

function pricesOf(book: PriceBook, model: string, channelType = 1): [input: number, output: number] | undefined {
  const sheet = book.sheet(model, channelType)
  return sheet && [dollars(sheet.prices.input), dollars(sheet.prices.output)]
}

describe('parseRatioTable', () => {
  test.each([
    ['{}', {}],
    ['{"a":0.075,"b":2.5e-05,"c":15,"d":0}', { a: 0.075, b: 0.000025, c: 15, d: 0 }],
    ['{"imported":0.021299999999999998}', { imported: 0.0213 }],
    ['{"third":3.3333333}', { third: 3.333333 }],
    ['{"__proto__":2}', JSON.parse('{"__proto__":2}')],
  ])('%s', (text, table) => {
    expect(parseRatioTable(text)).toEqual(table)
  })

  test.each([
    ['', '{} is an empty one'],
    ['{"a":1', 'not valid JSON'],
    ['[1]', 'must be a JSON object'],
    ['null', 'must be a JSON object'],
    ['3', 'must be a JSON object'],
    ['{"a":"1"}', '"a": must be a number'],
    ['{"a":null}', '"a": must be a number'],
    ['{"a":-0.5}', '"a": must not be negative'],
    ['{"a":1e400}', '"a": must be a number'],
    ['{"a":1000001}', '"a": must not be more than 1000000'],
    ['{"a":0.0000001}', '"a": must be 0 or at least 0.000001'],
    ['{"a":1e-300}', '"a": must be 0 or at least 0.000001'],
  ])('%s is refused', (text, message) => {
    expect(() => parseRatioTable(text)).toThrow(message)
  })

  test('reports the values that it rounded', () => {
    const parsed = readRatioTable('{"a":0.5,"b":0.0000015,"c":1.23456789}')
    expect(parsed).toEqual({
      ok: true,
      table: new Map([
        ['a', 500_000n],
        ['b', 2n],
        ['c', 1_234_568n],
      ]),
      rounded: ['b', 'c'],
    })
  })
})

describe('sheet', () => {
  const book = createPriceBook({
    ModelRatio: '{"gpt-4o":5,"mine":2,"gpt-4o(3)":6,"o3-mini-mine":1,"qwen-own":1,"claude-mine":1,"freebie":0}',
    CompletionRatio: '{"mine(14)":7}',
  })

  test('an option overrides the default, a name with its channel type overrides the bare name, and default proportions are kept', () => {
    expect(pricesOf(book, 'gpt-4o')).toEqual([10, 40])
    expect(pricesOf(book, 'gpt-4o', 3)).toEqual([12, 48])
    expect(dollars(book.sheet('gpt-4o', 1)?.prices.cachedInput)).toBe(5)
    expect(book.sheet('gpt-4o', 1)?.source).toBe('option')
  })

  test('models without an option keep their defaults', () => {
    expect(pricesOf(book, 'gpt-4o-mini')).toEqual([0.15, 0.6])
    expect(book.sheet('gpt-4o-mini', 1)).toMatchObject({ source: 'default', modelRatio: '0.075', completionRatio: '4' })
  })

  test('the completion ratio comes from the table, the default, or the name', () => {
    expect(pricesOf(book, 'mine')).toEqual([4, 4])
    expect(pricesOf(book, 'mine', 14)).toEqual([4, 28])
    expect(pricesOf(book, 'o3-mini')).toEqual([1.1, 4.4])
    expect(pricesOf(book, 'o3-mini-mine')).toEqual([2, 8])
    expect(pricesOf(book, 'claude-mine')).toEqual([2, 10])
    expect(dollars(book.sheet('claude-mine', 14)?.prices.cacheWrite)).toBe(2.5)
  })

  test('the web-search variant of a qwen or command model is priced like the model', () => {
    expect(pricesOf(book, 'qwen-own-internet')).toEqual([2, 2])
    expect(pricesOf(book, 'mine-internet')).toBeUndefined()
  })

  test('a model without a price has no sheet; a model that is priced at 0 is free', () => {
    expect(book.sheet('no-such-model', 1)).toBeUndefined()
    expect(book.sheet('openrouter/auto', 20)).toBeUndefined()
    expect(pricesOf(book, 'freebie')).toEqual([0, 0])
  })

  test('models without a price get UnpricedModelRatio if UnpricedModelPolicy is fallback', () => {
    const lenient = createPriceBook({ UnpricedModelPolicy: 'fallback', UnpricedModelRatio: '30' })
    expect(pricesOf(lenient, 'no-such-model')).toEqual([60, 60])
    expect(pricesOf(lenient, 'gpt-4o')).toEqual([2.5, 10])
    expect(createPriceBook({ UnpricedModelPolicy: 'refuse', UnpricedModelRatio: '30' }).sheet('x', 1)).toBeUndefined()
  })

  test('a ratio option scales the prices of all tiers', () => {
    const sheet = createPriceBook({ ModelRatio: '{"gemini-2.5-pro":1.25}' }).sheet('gemini-2.5-pro', 24)
    expect(dollars(sheet?.prices.output)).toBe(20)
    expect(dollars(sheet?.tiers[0]?.prices.input)).toBe(5)
    expect(dollars(sheet?.tiers[0]?.prices.output)).toBe(30)
  })

  test('a price per call overrides the ratio and scales with QuotaPerUnit', () => {
    const options = { ModelPrice: '{"gpt-4o":0.01}', ModelRatio: '{"gpt-4o":9}' }
    const usage = { promptTokens: 100, completionTokens: 100 }
    const charge = (made: PriceBook) => {
      const sheet = made.sheet('gpt-4o', 1)
      return sheet && chargeTokens(usage, sheet, ratioOne)
    }
    expect(charge(createPriceBook(options))).toBe(5000)
    expect(charge(createPriceBook({ ...options, QuotaPerUnit: '1000000' }))).toBe(10_000)
  })

  test('prices change with the date and the hour', () => {
    let nowMs = Date.UTC(2026, 11, 31, 23)
    const clocked = createPriceBook({}, { nowMs: () => nowMs })
    expect(pricesOf(clocked, 'gemini-3.6-flash', 24)).toEqual([0.75, 3.75])
    nowMs = Date.UTC(2027, 0, 1)
    expect(pricesOf(clocked, 'gemini-3.6-flash', 24)).toEqual([1.5, 7.5])
    for (const [hour, input] of [
      [0, 0.66],
      [1, 1.32],
      [4, 0.66],
      [9, 1.32],
      [10, 0.66],
    ] as const) {
      nowMs = Date.UTC(2027, 0, 1, hour)
      expect(pricesOf(clocked, 'deepseek-v4-pro', 36)?.[0]).toBe(input)
    }
  })

  test('accepts options as parsed tables or as strings', () => {
    const parsed = createPriceBook({ ModelRatio: { mine: 1.1 }, QuotaPerUnit: 500_000 })
    expect(parsed.sheet('mine', 1)?.modelRatio).toBe('1.1')
    expect(parsed.problems).toEqual([])
  })
})

describe('groups', () => {
  test('a known group has its ratio, and any other group has a ratio of 1', () => {
    const book = createPriceBook({ GroupRatio: '{"default":1,"vip":0.8}' })
    expect(book.groupRatio('vip')).toBe(800_000n)
    expect(book.groupRatio('nobody')).toBe(ratioOne)
    expect(createPriceBook({}).groupRatio('svip')).toBe(ratioOne)
  })
})

describe('broken tables', () => {
  test('an invalid table is reported, and the table of the previous book applies', () => {
    const previous = createPriceBook({ ModelRatio: '{"gpt-4o":5}' })
    const book = createPriceBook({ ModelRatio: '{"gpt-4o":' }, { previous })
    expect(pricesOf(book, 'gpt-4o')).toEqual([10, 40])
    expect(book.problems).toEqual([expect.stringMatching(/^ModelRatio: not valid JSON/)])
  })

  test('without a previous book, the defaults apply in place of invalid options', () => {
    const book = createPriceBook({ ModelRatio: '[]', GroupRatio: '{"vip":-1}', QuotaPerUnit: 'x' })
    expect(pricesOf(book, 'gpt-4o')).toEqual([2.5, 10])
    expect(book.groupRatio('vip')).toBe(ratioOne)
    expect(book.problems).toHaveLength(3)
  })
})
