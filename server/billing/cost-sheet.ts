/**
 * Price sheets with the prices that the upstream charges the operator, so that costs and prices are computed in the
 * same way.
 */
import { scaleRational } from '../lib/decimal.ts'
import { basisByName } from './by-name.ts'
import { type ClassPrices, follow, freePrices, type PriceSheet, ratioOne } from './price.ts'

/** Costs in millionths of a dollar, per million tokens and per request. */
export interface CostRates {
  readonly input?: bigint
  readonly output?: bigint
  readonly cached?: bigint
  readonly cacheWrite?: bigint
  readonly request?: bigint
}

/** The cost of a model: either a multiplier of the price list in millionths, or rates. */
export type ModelCost = { readonly multiplier: bigint } | { readonly rates: CostRates }

/**
 * A price sheet with the given rates. A token class without a rate has the same price relative to plain tokens as in
 * the price list. If the model is not in the price list, such a class costs as much as plain tokens. Undefined if the
 * model is not charged by tokens and there is no rate per request.
 * @param list the price list's sheet of the model
 * @param quotaPerUnit quota units per dollar, in millionths
 */
export function costSheet(
  model: string,
  list: PriceSheet | undefined,
  rates: CostRates,
  quotaPerUnit: bigint,
): PriceSheet | undefined {
  const basis = list?.basis ?? basisByName(model)
  if (basis !== 'tokens' && rates.request === undefined) return undefined
  return sheetOf(model, basis, list, rates, quotaPerUnit)
}

function sheetOf(
  model: string,
  basis: PriceSheet['basis'],
  list: PriceSheet | undefined,
  rates: CostRates,
  quotaPerUnit: bigint,
): PriceSheet {
  const hasTokens = rates.input !== undefined || rates.output !== undefined
  const perToken = (rate: bigint) => scaleRational(rate, quotaPerUnit, ratioOne)
  const isByTokens = hasTokens && basis === 'tokens'
  const prices = isByTokens ? classCosts(rates, list?.prices, perToken) : freePrices
  const tiers = isByTokens && list ? list.tiers : []
  return Object.freeze({
    model,
    basis,
    prices,
    tiers: tiers.map(({ above, prices: tier }) => ({
      above,
      prices: list ? inProportion(tier, list.prices, prices) : prices,
    })),
    perCall: (rates.request ?? 0n) * quotaPerUnit,
    perHour: 0n,
    minimumSeconds: 0,
    source: 'option',
    modelRatio: '0',
    completionRatio: '0',
  } satisfies PriceSheet)
}

/** A price sheet with only the given rates. Token classes without a rate cost as much as plain tokens. */
export function fixedSheet(model: string, rates: CostRates, quotaPerUnit: bigint): PriceSheet {
  return sheetOf(model, 'tokens', undefined, rates, quotaPerUnit)
}

/** The costs of all token classes, in picoquota per token. */
function classCosts(rates: CostRates, list: ClassPrices | undefined, perToken: (rate: bigint) => bigint): ClassPrices {
  const input = perToken(rates.input ?? 0n)
  const output = perToken(rates.output ?? 0n)
  const likeInput = (price: bigint | undefined) =>
    list && price !== undefined ? follow(price, list.input, input) : input
  const likeOutput = (price: bigint | undefined) =>
    list && price !== undefined ? follow(price, list.output, output) : output
  const cachedInput = rates.cached === undefined ? likeInput(list?.cachedInput) : perToken(rates.cached)
  const cacheWrite = rates.cacheWrite === undefined ? likeInput(list?.cacheWrite) : perToken(rates.cacheWrite)
  const audioInput = likeInput(list?.audioInput)
  return {
    input,
    output,
    cachedInput,
    cacheWrite,
    cacheWrite1h: list ? follow(list.cacheWrite1h, list.cacheWrite, cacheWrite) : cacheWrite,
    audioInput,
    cachedAudioInput: list
      ? follow(list.cachedAudioInput, list.audioInput, audioInput)
      : follow(cachedInput, input, audioInput),
    imageInput: likeInput(list?.imageInput),
    reasoning: likeOutput(list?.reasoning),
    audioOutput: likeOutput(list?.audioOutput),
    imageOutput: likeOutput(list?.imageOutput),
  }
}

/** A tier's prices, scaled by the factors by which the costs differ from the price list. */
function inProportion(tier: ClassPrices, from: ClassPrices, to: ClassPrices): ClassPrices {
  const moved = { ...to }
  for (const name of Object.keys(to) as (keyof ClassPrices)[]) moved[name] = follow(tier[name], from[name], to[name])
  return moved
}
