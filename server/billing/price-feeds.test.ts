import { describe, expect, test } from 'bun:test'
import { gatewayFeed, openRouterFeed } from './price-feeds.ts'

const costsIn = (feed: ReturnType<typeof gatewayFeed>) => feed && Object.fromEntries(feed.models)

describe('price lists of gateways', () => {
  const row = { model_name: 'm', quota_type: 0, model_ratio: 1.25, model_price: 0, completion_ratio: 4 }

  test('ratios become dollars for a million tokens, with the ratio of the group', () => {
    const answer = { success: true, data: [row], group_ratio: { default: 1, vip: 0.8 } }
    expect(costsIn(gatewayFeed(answer, ''))).toEqual({ m: { input: 2.5, output: 10 } })
    expect(costsIn(gatewayFeed(answer, 'vip'))).toEqual({ m: { input: 2, output: 8 } })
    expect(gatewayFeed(answer, 'vip')?.groups).toEqual(['default', 'vip'])
    expect(gatewayFeed(answer, 'toString')).toBeUndefined()
  })

  test('reads prices of cached tokens and prices per request, and marks prices that cannot be read', () => {
    const data = [
      { ...row, model_name: 'cached', cache_ratio: 0.1, create_cache_ratio: 1.25 },
      { ...row, model_name: 'call', quota_type: 1, model_price: 0.05 },
      { ...row, model_name: 'formula', billing_expr: 'tokens * 2' },
      { ...row, model_name: 'second', quota_type: 4, model_price: 0.01 },
      { ...row, model_name: 'negative', model_ratio: -1 },
      { ...row, model_name: 'absurd', model_ratio: 1e9 },
      { ...row, model_name: 'text', model_ratio: 'x' },
    ]
    expect(costsIn(gatewayFeed({ data }, ''))).toEqual({
      cached: { input: 2.5, output: 10, cached: 0.25, cache_write: 3.125 },
      call: { request: 0.05 },
      formula: null,
      second: null,
      negative: null,
      absurd: null,
      text: null,
    })
  })

  test('reads tables of ratios, and lists with separate ratios for input and output', () => {
    const data = {
      model_ratio: { a: 0.075 },
      completion_ratio: { a: 4 },
      cache_ratio: { a: 0.5 },
      model_price: { b: 0.1 },
    }
    expect(costsIn(gatewayFeed({ data }, ''))).toEqual({
      a: { input: 0.15, output: 0.6, cached: 0.075 },
      b: { request: 0.1 },
    })
    const hub = [
      { model: 'x', type: 'tokens', input: 1.25, output: 5 },
      { model: 'y', type: 'times', input: 20, output: 20 },
    ]
    expect(costsIn(gatewayFeed({ data: hub }, ''))).toEqual({ x: { input: 2.5, output: 10 }, y: { request: 0.04 } })
  })

  test('other responses are not price lists', () => {
    for (const answer of [{}, { data: null }, { data: [] }, { data: [1, null, 'x'] }, { data: {} }, { data: 'text' }])
      expect(gatewayFeed(answer, '')).toBeUndefined()
  })
})

describe('the list of OpenRouter', () => {
  test('prices per token are converted exactly to prices per million tokens', () => {
    const pricing = {
      prompt: '0.00000015',
      completion: '0.0000006',
      input_cache_read: '0.000000075',
      input_cache_write: '0.0000001875',
      request: '0',
    }
    const feed = openRouterFeed({
      data: [
        { id: 'a/b', pricing },
        { id: 'by-request', pricing: { prompt: '0', completion: '0', request: '0.005' } },
        { id: 'openrouter/auto', pricing: { prompt: '-1', completion: '-1' } },
        { id: 'none' },
        'text',
      ],
    })
    expect(costsIn(feed)).toEqual({
      'a/b': { input: 0.15, output: 0.6, cached: 0.075, cache_write: 0.1875 },
      'by-request': { input: 0, output: 0, request: 0.005 },
      'openrouter/auto': null,
    })
    expect(openRouterFeed({ data: {} })).toBeUndefined()
  })
})
