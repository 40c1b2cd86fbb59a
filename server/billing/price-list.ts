import type { Price, PriceUnit, Rates, SpecialRate } from '../../contract/api/price.ts'
import { modeOfModel } from '../../contract/model-kinds.ts'
import type { RelayMode } from '../../contract/relay-modes.ts'
import { decimalText } from '../lib/decimal.ts'
import { imagePrice } from './image-price.ts'
import type { ClassPrices, PriceSheet } from './price.ts'

/** Of picoquota, and of a ratio in millionths. */
const decimals = 12 + 6
const million = 1_000_000n

/** Special rates, and the plain one that holds where they are not named. */
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

/** Kinds of calls whose answers have no tokens. */
const withoutOutput: ReadonlySet<RelayMode> = new Set(['embeddings', 'rerank', 'moderations'])

/**
 * The prices behind some sheets of a model, each once: first the one at which a usual call costs least.
 * @param groupRatio millionths; the prices have it in them
 */
export function pricesOf(sheets: Iterable<PriceSheet>, groupRatio: bigint): Price[] {
  const found = new Map<string, Price>()
  for (const sheet of sheets) {
    const price = priceOf(sheet, groupRatio)
    found.set(JSON.stringify(price), price)
  }
  return [...found.values()].sort((a, b) => usualCost(a) - usualCost(b))
}

/** What 10,000 tokens in and 1,000 out cost; orders prices that are for the same. */
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

/** A price of one rate; amounts in picoquota. */
function plain(unit: PriceUnit, input: bigint, perCall: bigint, ratio: bigint): Price {
  const rates = { input: inQuota(input, ratio), output: 0 }
  return { unit, rates, tiers: [], call: inQuota(perCall, ratio), minimum_seconds: 0 }
}

/** For a million tokens each. */
function ratesOf(prices: ClassPrices, hasOutput: boolean, ratio: bigint): Rates {
  const of = (name: keyof ClassPrices) => inQuota(prices[name] * million, ratio)
  const rates: Rates = { input: of('input'), output: hasOutput ? of('output') : 0 }
  for (const [name, own, usual] of special) {
    if (usual === 'output' && !hasOutput) continue
    // Sound that costs what text does costs it from the cache, too.
    const isAsText =
      own === 'cachedAudioInput' && prices.audioInput === prices.input && prices[own] === prices.cachedInput
    if (prices[own] !== prices[usual] && !isAsText) rates[name] = of(own)
  }
  return rates
}

/** Picoquota times the group's ratio in quota units: the number that is nearest. */
function inQuota(picoquota: bigint, ratio: bigint): number {
  return Number(decimalText(picoquota * ratio, decimals))
}
