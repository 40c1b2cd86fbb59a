import { describe, expect, test } from 'bun:test'
import { createPriceBook } from './price-book.ts'
import { isPaidByPrompt } from './tool-prices.ts'

const dollars = (pico: bigint | undefined) => (pico === undefined ? undefined : Number(pico) / 1e12 / 500_000)

describe('prices of tools', () => {
  test.each([
    ['web_search', undefined, 'gpt-5', 1, 0.01],
    ['web_search_preview', undefined, 'gpt-4o', 1, 0.025],
    ['web_search_preview', undefined, 'gpt-5', 1, 0.01],
    ['web_search', undefined, 'claude-sonnet-4-5', 14, 0.01],
    ['web_search', undefined, 'claude-sonnet-4-5', 42, 0.01],
    ['web_search', undefined, 'gemini-2.5-pro', 24, 0.035],
    ['web_search', undefined, 'gemini-3-pro-preview', 42, 0.014],
    ['web_search', 'low', 'sonar', 58, 0.005],
    ['web_search', undefined, 'sonar', 58, 0.005],
    ['web_search', 'high', 'sonar', 58, 0.012],
    ['web_search', 'high', 'sonar-pro', 58, 0.014],
    ['web_search', undefined, 'sonar-deep-research', 58, 0.005],
    ['web_search', 'search_std', 'glm-4.6', 16, 0.001429],
    ['image_generation', 'low', 'gpt-5', 1, 0.016],
    ['image_generation', 'auto', 'gpt-5', 1, 0.25],
    ['file_search', undefined, 'gemini-3-pro', 24, 0],
    ['x_search', undefined, 'grok-4', 45, 0.005],
    ['x_search', undefined, 'gpt-5', 1, undefined],
    ['maps', undefined, 'gpt-5', 1, undefined],
  ] as const)('%s %s of %s on channel type %d', (kind, size, model, channelType, price) => {
    const book = createPriceBook({})
    expect(dollars(book.toolPrice({ kind, size, model, channelType }))).toBe(price as number)
  })

  test('an entry in ToolPrice overrides the built-in prices, and the most specific entry applies', () => {
    const table = {
      web_search: 1,
      'web_search:high': 2,
      'web_search(14)': 3,
      'web_search:high(14)': 4,
      'web_search:gpt-5': 5,
    }
    const book = createPriceBook({ ToolPrice: JSON.stringify(table) })
    const priceOf = (model: string, channelType: number, size?: string) =>
      dollars(book.toolPrice({ kind: 'web_search', size, model, channelType }))
    expect(priceOf('m', 1)).toBe(1)
    expect(priceOf('m', 1, 'high')).toBe(2)
    expect(priceOf('m', 1, 'low')).toBe(1)
    expect(priceOf('m', 14)).toBe(3)
    expect(priceOf('m', 14, 'high')).toBe(4)
    expect(priceOf('gpt-5', 14, 'high')).toBe(5)
    expect(dollars(book.toolPrice({ kind: 'web_search_preview', model: 'm', channelType: 14 }))).toBe(3)
  })

  test('a tool without an entry has the price of UnpricedToolPrice, or no price if UnpricedModelPolicy is refuse', () => {
    const tool = { kind: 'maps', model: 'm', channelType: 1 }
    expect(createPriceBook({ UnpricedModelPolicy: 'refuse' }).toolPrice(tool)).toBeUndefined()
    const lenient = createPriceBook({ UnpricedModelPolicy: 'fallback', UnpricedToolPrice: '0.07' })
    expect(dollars(lenient.toolPrice(tool))).toBe(0.07)
  })

  test('older Google models are charged per prompt', () => {
    const tool = { kind: 'web_search', channelType: 24 }
    expect(isPaidByPrompt({ ...tool, model: 'gemini-2.5-flash' })).toBe(true)
    expect(isPaidByPrompt({ ...tool, model: 'gemini-3-flash' })).toBe(false)
    expect(isPaidByPrompt({ ...tool, channelType: 1, model: 'gemini-2.5-flash' })).toBe(false)
  })
})
