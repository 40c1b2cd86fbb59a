import { describe, expect, test } from 'bun:test'
import { providers } from '../providers/registry.ts'
import { defaultPriceData } from './default-prices.gen.ts'
import { defaultPricesSource, findDefaultPrice, listDefaultPrices } from './default-prices.ts'
import { extraPriceTable } from './default-prices-extra.ts'

/** The price in dollars per million prompt tokens and per million completion tokens. */
function price(model: string, channelType = 0): string {
  const found = findDefaultPrice(model, channelType)
  const prices = found?.sets[0]?.prices
  return prices ? `${Number(prices.input) / 5e11} ${Number(prices.output) / 5e11}` : 'none'
}

describe('findDefaultPrice', () => {
  test.each([
    ['gpt-4o', 1, '2.5 10'],
    ['gpt-4o-2024-08-06', 1, '2.5 10'],
    ['gpt-4o-2024-05-13', 1, '5 15'],
    ['GPT-4o', 1, '2.5 10'],
    ['gpt-4', 1, '30 60'],
    ['gpt-3.5-turbo-0613', 1, '1.5 2'],
    ['o3-mini', 1, '1.1 4.4'],
    ['gpt-5-nano-2025-08-07', 1, '0.05 0.4'],
    ['ft:gpt-4o-mini-2024-07-18:org::abc123', 1, '0.3 1.2'],
    ['claude-sonnet-4-5-20250929', 14, '3 15'],
    ['claude-sonnet-4-5@20250929', 42, '3 15'],
    ['claude-3-opus-20240229', 14, '15 75'],
    ['claude-haiku-4-5-20251001', 14, '1 5'],
    ['claude-haiku-4-5-20251001', 33, '1.1 5.5'],
    ['global.anthropic.claude-haiku-4-5-20251001-v1:0', 33, '1 5'],
    ['us.anthropic.claude-3-5-sonnet-20241022-v2:0', 33, '3 15'],
    ['gemini-2.5-pro', 24, '1.25 10'],
    ['gemini-2.0-flash-001', 24, '0.1 0.4'],
    ['gemini-1.5-flash-8b', 24, '0.0375 0.15'],
    ['grok-4', 45, '3 15'],
    ['mistral-large-latest', 28, '2 6'],
    ['openai/gpt-4o', 20, '2.5 10'],
    ['anthropic/claude-sonnet-4.5', 20, '3 15'],
    ['llama-3.3-70b-versatile', 29, '0.59 0.79'],
    ['llama3-70b-8192', 33, '2.65 3.5'],
    ['meta/meta-llama-3-70b-instruct', 46, '0.65 2.75'],
    ['text-embedding-3-small', 1, '0.02 0.02'],
    ['qwen-plus', 17, '0.114286 0.285714'],
    ['step-1-8k', 32, '0.714286 2.857142'],
    ['ERNIE-Bot', 15, '1.714286 1.714286'],
    ['SparkDesk-v3.5', 18, '2.571428 2.571428'],
    ['glm-4-flash', 16, '0 0'],
  ])('%s on channel type %p', (model, channelType, expected) => {
    expect(price(model, channelType)).toBe(expected)
  })

  test.each([
    'openrouter/auto',
    'gpt-9',
    'claude-sonnet-5-5',
    'gpt-4o-mini-turbo',
    'gemini-2.5-pro-ultra',
    '',
    'constructor',
    '-latest',
  ])('"%s" is not priced', (model) => {
    expect(price(model)).toBe('none')
  })

  test('the lookup of a long name with many date suffixes is fast', () => {
    expect(price(`x${'-2024'.repeat(2000)}`)).toBe('none')
  })
})

describe('the price tables', () => {
  test('every line can be parsed, and no price is negative or implausibly high', () => {
    let count = 0
    for (const { name, sets } of listDefaultPrices()) {
      count++
      for (const { prices, tiers } of sets) {
        for (const value of [...Object.values(prices), ...tiers.flatMap((tier) => Object.values(tier.prices))]) {
          if (value < 0n || value > 500n * 10n ** 12n) throw new Error(`${name}: ${value}`)
        }
      }
    }
    expect(count).toBeGreaterThan(1500)
  })

  test('image models have a separate price for image output, for every provider that sells them', () => {
    const paint = [...listDefaultPrices()].filter(({ name }) => /gemini-\d.*-image|gpt-5.*-image/.test(name))
    const cheap = paint.filter(({ sets }) => sets.some(({ prices }) => prices.imageOutput <= prices.output))
    expect({ cheap: cheap.map(({ name }) => name), isThere: paint.length > 8 }).toEqual({ cheap: [], isThere: true })
  })

  test('only models that are known to be free have a price of 0', () => {
    const free = [...listDefaultPrices()].filter(({ sets }) =>
      sets.some(({ prices, perCall }) => prices.input === 0n && perCall === 0n),
    )
    expect(
      free.map(({ name }) => name).filter((name) => !/:free$|moderation|flash$|^glm-4v?-flash$/.test(name)),
    ).toEqual([])
  })

  test('no model is in both the generated table and the table maintained by hand, except those listed here', () => {
    const names = (table: string) =>
      table
        .split('\n')
        .flatMap((line) => (line.includes(' | ') ? (line.split(' | ')[0] ?? '').toLowerCase().split(' ') : []))
    const generated = new Set(names(defaultPriceData.table))
    expect(names(extraPriceTable).filter((name) => generated.has(name))).toEqual([
      'gpt-4o-audio-preview',
      'gpt-4o-mini-audio-preview',
      'gpt-4o-mini-audio',
      'gpt-5-image',
      'gpt-5-image-mini',
      'gpt-5.4-image-2',
      'google/gemini-2.5-flash-image',
      'google/gemini-3-pro-image-preview',
      'google/gemini-3.1-flash-image-preview',
      'openai/gpt-5-image',
      'openai/gpt-5-image-mini',
      'openai/gpt-5.4-image-2',
    ])
  })

  test('the source of the prices has a date', () => {
    expect(defaultPricesSource).toEqual({
      name: '@pydantic/genai-prices',
      version: expect.any(String),
      date: expect.stringMatching(/^\d{4}-\d\d-\d\d$/),
    })
  })
})

test('the suggested models of every channel type have a price, except those listed here', () => {
  const unpriced = providers.flatMap(({ meta }) =>
    meta.models.filter((model) => !findDefaultPrice(model, meta.type)).map((model) => `${meta.name} ${model}`),
  )
  expect(unpriced.filter((each) => !withoutPublicPrice.some((pattern) => pattern.test(each)))).toEqual([])
})

/**
 * Suggested models without a default price, because they are self-hosted, free within limits, priced by the hour or in
 * steps, or have no public price list.
 */
const withoutPublicPrice = [
  /^(?:ollama|nvidia|siliconflow|xunfei|spark-http|deepinfra) /,
  /^(?:ali|bailian) (?:qwen-flash|qwen3-|qwq-plus|gte-rerank|qwen-image)/,
  /^tencent hunyuan-(?:turbos-latest|t1-latest|lite)$/,
  /^qianfan ernie-(?:5\.0-|lite-8k$)/,
  /^doubao doubao-seed-/,
  / (?:gemini-flash-latest|command-a-plus-05-2026|chat-bison-001|step-3|step-1x-medium|Qwen\/Qwen1\.5-72B-Chat)$/,
  /^bedrock (?:cohere\.|amazon\.rerank)/,
  /^cloudflare @cf\/black-forest-labs\//,
  /^replicate (?:ibm-granite|deepseek-ai)\//,
  /^watsonx (?:ibm|meta-llama)\//,
]
