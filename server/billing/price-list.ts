import type { Price, PricedModel, PriceUnit, Rates, SpecialRate } from '../../contract/api/price.ts'
import { decimalText } from '../lib/decimal.ts'
import type { ClassPrices, PriceBasis, PriceSheet } from './price.ts'
import type { PriceBook } from './ratios.ts'

/** A model as a channel serves it. */
export interface ServedName {
  /** As it is sent upstream. */
  upstream: string
  channelType: number
}

/** Of picoquota, and of a ratio in millionths. */
const decimals = 12 + 6

const units: Readonly<Record<PriceBasis, PriceUnit>> = {
  tokens: 'tokens',
  characters: 'characters',
  image: 'image',
  duration: 'hour',
}

/** How many of what `input` is the price of make the unit that is shown. */
const unitSize: Readonly<Record<PriceBasis, bigint>> = {
  tokens: 1_000_000n,
  characters: 1_000_000n,
  image: 1000n,
  duration: 1n,
}

/** Each special rate with what it costs where it has no price of its own. */
const special: readonly (readonly [SpecialRate, keyof ClassPrices, keyof ClassPrices])[] = [
  ['cached_input', 'cachedInput', 'input'],
  ['cache_write', 'cacheWrite', 'input'],
  ['cache_write_1h', 'cacheWrite1h', 'cacheWrite'],
  ['image_input', 'imageInput', 'input'],
  ['audio_input', 'audioInput', 'input'],
  ['cached_audio_input', 'cachedAudioInput', 'audioInput'],
  ['reasoning', 'reasoning', 'output'],
  ['image_output', 'imageOutput', 'output'],
  ['audio_output', 'audioOutput', 'output'],
]

/** What a model costs a group now, on each of the channels that serve it: the same prices once, cheapest first. */
export function pricesOf(
  model: string,
  served: readonly ServedName[],
  book: Pick<PriceBook, 'sheet' | 'groupRatio'>,
  group: string,
): PricedModel {
  const ratio = book.groupRatio(group)
  const found = new Map<string, Price>()
  for (const { upstream, channelType } of served) {
    const sheet = book.sheet(upstream, channelType)
    if (!sheet) continue
    const price = priceOf(sheet, ratio)
    found.set(JSON.stringify(price), price)
  }
  const prices = [...found.values()].sort((a, b) => weight(a) - weight(b))
  return { model, prices }
}

/** Orders the prices of one model. */
function weight({ rates, call }: Price): number {
  return rates.input + rates.output + call
}

function priceOf({ basis, prices, tiers, perCall, perHour, minimumSeconds }: PriceSheet, ratio: bigint): Price {
  const input = basis === 'duration' ? perHour : prices.input
  return {
    unit: units[basis],
    rates: ratesOf(prices, input, basis, ratio),
    tiers: tiers
      .map((tier) => ({ above: tier.above, rates: ratesOf(tier.prices, tier.prices.input, basis, ratio) }))
      .sort((a, b) => a.above - b.above),
    call: inQuota(perCall, 1n, ratio),
    minimum_seconds: basis === 'duration' ? minimumSeconds : 0,
  }
}

function ratesOf(prices: ClassPrices, input: bigint, basis: PriceBasis, ratio: bigint): Rates {
  const size = unitSize[basis]
  const rates: Rates = { input: inQuota(input, size, ratio), output: 0 }
  // Of the rest alone tokens are counted.
  if (basis !== 'tokens') return rates
  rates.output = inQuota(prices.output, size, ratio)
  for (const [name, own, usual] of special)
    if (prices[own] !== prices[usual]) rates[name] = inQuota(prices[own], size, ratio)
  return rates
}

/** Picoquota times the group's ratio, for so many, in quota units: the number that is nearest. */
function inQuota(picoquota: bigint, count: bigint, ratio: bigint): number {
  return Number(decimalText(picoquota * count * ratio, decimals))
}
