import type { Price, PriceUnit, Rates, SpecialRate } from '../../contract/api/price.ts'
import { modeOfModel } from '../../contract/model-kinds.ts'
import type { RelayMode } from '../../contract/relay-modes.ts'
import { decimalText } from '../lib/decimal.ts'
import { imagePrice } from './image-price.ts'
import type { ClassPrices, PriceSheet } from './price.ts'

/** The decimals of an amount in picoquota (12) multiplied by a ratio in millionths (6). */
const decimals = 12 + 6
const million = 1_000_000n

/**
 * The rates of special token classes. Each is listed with its class and the rate that applies if the special rate is
 * not set.
 */
const special: readonly (readonly [SpecialRate, keyof ClassPrices, 'input' | 'output'])[] = [
  ['cached_input', 'cachedInput', 'input'],
  ['cache_write', 'cacheWrite', 'input'],
  ['cache_write_1h', 'cacheWrite1h', 'input'],
  ['image_input', 'imageInput', 'input'],
  ['audio_input', 'audioInput', 'input'],
  ['cached_audio_input', 'cachedAudioInput', 'input'],
  ['reasoning', 'reasoning', 'output'],
  ['image_output', 'imageOutput', 'output'],
  ['audio_output', 'audioOutput', 'output'],
]

/** Kinds of calls that have no output tokens. */
const withoutOutput: ReadonlySet<RelayMode> = new Set(['embeddings', 'rerank', 'moderations'])

/**
 * The distinct prices in the given sheets of a model, starting with the price at which a typical call costs least.
 * @param groupRatio millionths; already included in the prices
 */
export function pricesOf(sheets: Iterable<PriceSheet>, groupRatio: bigint): Price[] {
  const distinct = new Map<string, Price>()
  for (const sheet of sheets) {
    const price = priceOf(sheet, groupRatio)
    distinct.set(JSON.stringify(price), price)
  }
  return [...distinct.values()].sort((a, b) => usualCost(a) - usualCost(b))
}

/**
 * The price of a typical call with 10,000 input tokens and 1,000 output tokens. Prices with the same unit are sorted by
 * it.
 */
function usualCost({ rates, call }: Price): number {
  return (rates.input * 10_000 + rates.output * 1000) / 1e6 + call
}

function priceOf(sheet: PriceSheet, ratio: bigint): Price {
  const { basis, prices, tiers, perCall, perHour, minimumSeconds } = sheet
  const mode = modeOfModel(sheet.model)
  const image = basis === 'image' || mode === 'images' ? imagePrice(sheet) : undefined
  if (image !== undefined) return plain('image', image, 0n, ratio)
  if (basis === 'characters') return plain('characters', prices.input * million, perCall, ratio)
  if (basis === 'duration') return { ...plain('hour', perHour, perCall, ratio), minimum_seconds: minimumSeconds }
  const hasOutput = !withoutOutput.has(mode)
  return {
    ...plain('tokens', 0n, perCall, ratio),
    rates: ratesOf(prices, hasOutput, ratio),
    tiers: tiers
      .map((tier) => ({ above: tier.above, rates: ratesOf(tier.prices, hasOutput, ratio) }))
      .sort((a, b) => a.above - b.above),
  }
}

/** A price with a single rate. The amounts are in picoquota. */
function plain(unit: PriceUnit, input: bigint, perCall: bigint, ratio: bigint): Price {
  const rates = { input: inQuota(input, ratio), output: 0 }
  return { unit, rates, tiers: [], call: inQuota(perCall, ratio), minimum_seconds: 0 }
}

/** The rates per million tokens. */
function ratesOf(prices: ClassPrices, hasOutput: boolean, ratio: bigint): Rates {
  const of = (name: keyof ClassPrices) => inQuota(prices[name] * million, ratio)
  const rates: Rates = { input: of('input'), output: hasOutput ? of('output') : 0 }
  for (const [name, own, usual] of special) {
    if (usual === 'output' && !hasOutput) continue
    // If audio costs the same as text, cached audio at the price of cached text is not listed separately.
    const isAsText =
      own === 'cachedAudioInput' && prices.audioInput === prices.input && prices[own] === prices.cachedInput
    if (prices[own] !== prices[usual] && !isAsText) rates[name] = of(own)
  }
  return rates
}

/**
 * An amount of picoquota multiplied by the group's ratio, in quota units. The result is the nearest representable
 * number.
 */
function inQuota(picoquota: bigint, ratio: bigint): number {
  return Number(decimalText(picoquota * ratio, decimals))
}
