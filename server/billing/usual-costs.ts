import type { ModelCost } from '../../contract/api/channel-costs.ts'
import { findDefaultPrice } from './default-prices.ts'
import type { PriceSet } from './price-lines.ts'

/** The default prices convert currency to quota at this rate. */
const quotaPerUnit = 500_000
const picoquota = 1e12
const million = 1e6
/** An image counts as this many tokens. */
const tokensOfImage = 1000

/**
 * The costs that an upstream usually charges for a model: the built-in prices on this type of channel. If the price
 * depends on the date or the time of day, there is one cost for each price. Empty if there is no built-in price, or if
 * the model is charged neither by tokens nor by images.
 */
export function usualCosts(model: string, channelType: number): ModelCost[] {
  return (findDefaultPrice(model, channelType)?.sets ?? []).flatMap((set) => costOf(set) ?? [])
}

function costOf({ basis, prices, perCall }: PriceSet): ModelCost | undefined {
  const dollars = (perToken: bigint, tokens: number) => rounded((Number(perToken) * tokens) / picoquota / quotaPerUnit)
  if (basis === 'image') return { request: dollars(prices.input, tokensOfImage) }
  if (basis !== 'tokens') return undefined
  return {
    input: dollars(prices.input, million),
    output: dollars(prices.output, million),
    ...(perCall > 0n && { request: dollars(perCall, 1) }),
  }
}

/** Rounds to six decimals, which is the precision of a cost. */
function rounded(dollars: number): number {
  return Math.round(dollars * million) / million
}
