/**
 * The price book applies the ratio options to the default prices. The result is one price sheet per model and channel
 * type.
 */

import { decimalText, scaleDecimal, scaleRational } from '../lib/decimal.ts'
import { type RatioTable, ratioTableOf, readRatioTable } from '../settings/ratio-table.ts'
import { basisByName, genericPrices } from './by-name.ts'
import { type CostRates, costSheet, fixedSheet, type ModelCost } from './cost-sheet.ts'
import { findDefaultPrice } from './default-prices.ts'
import { type ClassPrices, follow, freePrices, type PriceSheet, quotaOne, ratioOne } from './price.ts'
import { type PriceSet, setInForce, tokensPerSoundHour } from './price-lines.ts'
import { type PricedTool, toolPrice } from './tool-prices.ts'

/** The options that hold a ratio table. */
export const ratioOptions = [
  'ModelRatio',
  'CompletionRatio',
  'GroupRatio',
  'CacheRatio',
  'CreateCacheRatio',
  'AudioRatio',
  'AudioCompletionRatio',
  'ImageRatio',
  'ModelPrice',
  'ServiceTierRatio',
  'ToolPrice',
] as const

export type RatioOption = (typeof ratioOptions)[number]

/**
 * Options, either as stored (strings) or as returned by parseRatioTable (objects). A missing option has its default
 * value.
 */
export type PriceOptions = Partial<Record<RatioOption, string | Readonly<Record<string, number>>>> & {
  readonly QuotaPerUnit?: string | number
  readonly UnpricedModelPolicy?: string
  readonly UnpricedModelRatio?: string | number
  readonly UnpricedToolPrice?: string | number
  /** Maps the group of a user to a table that maps the group of a token to a ratio in millionths. */
  readonly GroupGroupRatio?: ReadonlyMap<string, RatioTable>
}

/** The inputs of a price book besides the options. */
export interface PriceBookContext {
  /**
   * The current time in epoch milliseconds. It is needed because the prices of some models depend on the date or the
   * hour.
   */
  readonly nowMs?: () => number
  /**
   * The previous book. If an option's new text is invalid, the table of the previous book applies. Without a previous
   * book, the table is empty, so that the defaults apply.
   */
  readonly previous?: PriceBook
}

/** Prices and group ratios of one version of the settings. */
export interface PriceBook {
  /**
   * The current price sheet of a model (its upstream name) on a channel of this type; undefined if the model has no
   * price. Use the same sheet for hold and settle, so that a call is charged at the price that applied when it began.
   */
  sheet(model: string, channelType: number): PriceSheet | undefined
  /**
   * The price sheet and ratio (millionths) from which the upstream cost of a call is computed in the same way as a
   * price; undefined if the list price or rate that `cost` requires is missing.
   */
  costing(model: string, channelType: number, cost: ModelCost): { sheet: PriceSheet; ratio: bigint } | undefined
  /** A price that does not depend on a model. Token classes without a rate cost as much as plain tokens. */
  fixedSheet(name: string, rates: CostRates): PriceSheet
  /**
   * The ratio of a group in millionths; 1 for a group that is not in the table. `userGroup` is the user's own group,
   * for which a different ratio may be set.
   */
  groupRatio(group: string, userGroup?: string): bigint
  /** The price multiplier for calls in a service tier, in millionths; undefined if the tier has none. */
  tierRatio(tier: string, model: string, channelType: number): bigint | undefined
  /** The price of one call of a tool that the provider runs, in picoquota; undefined if the tool has no price. */
  toolPrice(tool: PricedTool): bigint | undefined
  readonly tables: Readonly<Record<RatioOption, RatioTable>>
  /** One message for each option that could not be read, with the option's name. */
  readonly problems: readonly string[]
}

/** The sheets of a model, one for each set of default prices, and the conditions that choose between them. */
interface Priced {
  readonly sheets: readonly PriceSheet[]
  readonly sets: readonly PriceSet[]
}

const defaultGroups: RatioTable = new Map(['default', 'vip', 'svip'].map((group) => [group, ratioOne]))
/**
 * The maximum size of the cache of a channel type, after which it is cleared. Without a limit, it could grow with each
 * model name that a request contains.
 */
const cacheLimit = 5000

/** Builds the price book of one version of the settings. Never throws: unreadable options are listed in `problems`. */
export function createPriceBook(
  options: PriceOptions,
  { nowMs = Date.now, previous }: PriceBookContext = {},
): PriceBook {
  const problems: string[] = []
  const tables = readTables(options, previous, problems)
  const quotaPerUnit = readNumber(options, 'QuotaPerUnit', 500_000n * ratioOne, problems)
  const fallback =
    options.UnpricedModelPolicy === 'fallback'
      ? readNumber(options, 'UnpricedModelRatio', 30n * ratioOne, problems)
      : undefined
  const unpricedTool =
    options.UnpricedModelPolicy === 'fallback' ? readNumber(options, 'UnpricedToolPrice', 50_000n, problems) : undefined
  /**
   * The cache is keyed by channel type and then by model, because a combined key would have to be built for each call.
   */
  const caches = new Map<number, Map<string, Priced | undefined>>()

  const priced = (model: string, channelType: number): Priced | undefined => {
    const cache = caches.get(channelType) ?? new Map<string, Priced | undefined>()
    const known = cache.get(model)
    if (known || cache.has(model)) return known
    if (cache.size >= cacheLimit) cache.clear()
    const price = priceModel(pricedName(model), channelType, { tables, quotaPerUnit, fallback })
    cache.set(model, price)
    caches.set(channelType, cache)
    return price
  }

  const sheet = (model: string, channelType: number): PriceSheet | undefined => {
    const prices = priced(model, channelType)
    if (!prices) return undefined
    return prices.sheets[prices.sheets.length === 1 ? 0 : setInForce(prices.sets, nowMs())]
  }
  /** A cache of the sheets computed from cost rates, each with the list prices that were used. */
  const costs = new WeakMap<object, { list: PriceSheet | undefined; sheet: PriceSheet | undefined }>()
  const fixed = new WeakMap<CostRates, PriceSheet>()

  return {
    tables,
    problems,
    costing(model, channelType, cost) {
      const list = sheet(model, channelType)
      if ('multiplier' in cost) return list && { sheet: list, ratio: cost.multiplier }
      let known = costs.get(cost)
      if (!known || known.list !== list) {
        known = { list, sheet: costSheet(model, list, cost.rates, quotaPerUnit) }
        costs.set(cost, known)
      }
      return known.sheet && { sheet: known.sheet, ratio: ratioOne }
    },
    fixedSheet(name, rates) {
      const known = fixed.get(rates) ?? fixedSheet(name, rates, quotaPerUnit)
      fixed.set(rates, known)
      return known
    },
    groupRatio: (group, userGroup) =>
      (userGroup === undefined ? undefined : options.GroupGroupRatio?.get(userGroup)?.get(group)) ??
      tables.GroupRatio.get(group) ??
      ratioOne,
    tierRatio(tier, model, channelType) {
      const ratios = tables.ServiceTierRatio
      const bare = model.replace(/^.*\//, '').replace(/-\d{4}-?\d\d-?\d\d$/, '')
      return (
        ratios.get(`${tier}:${model}`) ??
        ratios.get(`${tier}:${bare}`) ??
        ratios.get(`${tier}(${channelType})`) ??
        ratios.get(tier)
      )
    },
    toolPrice(tool) {
      const price = toolPrice(tables.ToolPrice, tool) ?? unpricedTool
      return price === undefined ? undefined : price * quotaPerUnit
    },
    sheet,
  }
}

function readTables(
  options: PriceOptions,
  previous: PriceBook | undefined,
  problems: string[],
): Record<RatioOption, RatioTable> {
  const read = (option: RatioOption): RatioTable => {
    const stored = options[option]
    const otherwise: RatioTable = option === 'GroupRatio' ? defaultGroups : new Map()
    if (stored === undefined) return otherwise
    const parsed = typeof stored === 'string' ? readRatioTable(stored) : ratioTableOf(stored)
    if (parsed.ok) return parsed.table
    problems.push(`${option}: ${parsed.error}`)
    return previous?.tables[option] ?? otherwise
  }
  return {
    ModelRatio: read('ModelRatio'),
    CompletionRatio: read('CompletionRatio'),
    GroupRatio: read('GroupRatio'),
    CacheRatio: read('CacheRatio'),
    CreateCacheRatio: read('CreateCacheRatio'),
    AudioRatio: read('AudioRatio'),
    AudioCompletionRatio: read('AudioCompletionRatio'),
    ImageRatio: read('ImageRatio'),
    ModelPrice: read('ModelPrice'),
    ServiceTierRatio: read('ServiceTierRatio'),
    ToolPrice: read('ToolPrice'),
  }
}

/** Reads a numeric option, in millionths. */
function readNumber(
  options: PriceOptions,
  option: 'QuotaPerUnit' | 'UnpricedModelRatio' | 'UnpricedToolPrice',
  otherwise: bigint,
  problems: string[],
): bigint {
  const stored = options[option]
  if (stored === undefined) return otherwise
  const scaled = scaleDecimal(String(stored), 6)
  if (scaled && scaled.value >= 0n) return scaled.value
  problems.push(`${option}: must be a number that is not negative`)
  return otherwise
}

/** The name under which a model is priced. The web-search variant of a model has the price of the model. */
function pricedName(model: string): string {
  return /^(?:qwen|command)-.*-internet$/.test(model) ? model.slice(0, -'-internet'.length) : model
}

interface Rates {
  readonly tables: Record<RatioOption, RatioTable>
  readonly quotaPerUnit: bigint
  readonly fallback: bigint | undefined
}

/**
 * The price of a model. Options take precedence over defaults. Among options and among defaults, a name with the
 * channel type takes precedence over the bare name.
 */
function priceModel(model: string, channelType: number, { tables, quotaPerUnit, fallback }: Rates): Priced | undefined {
  const bound = `${model}(${channelType})`
  const option = (name: RatioOption): bigint | undefined => tables[name].get(bound) ?? tables[name].get(model)
  const callPrice = option('ModelPrice')
  const known = findDefaultPrice(model, channelType)
  const ratio = option('ModelRatio') ?? (known ? undefined : fallback)
  if (callPrice !== undefined) {
    const basis = known?.sets[0]?.basis ?? basisByName(model)
    const sheet: PriceSheet = { ...freeSheet, model, basis, perCall: callPrice * quotaPerUnit }
    return { sheets: [Object.freeze(sheet)], sets: [] }
  }
  if (!known && ratio === undefined) return undefined
  const sets = known?.sets ?? [genericPrices(model)]
  return { sheets: sets.map((set) => Object.freeze(sheetOf(model, set, ratio, option))), sets }
}

const freeSheet = {
  prices: freePrices,
  tiers: [],
  perHour: 0n,
  minimumSeconds: 0,
  source: 'option',
  modelRatio: '0',
  completionRatio: '0',
} as const

function sheetOf(
  model: string,
  set: PriceSet,
  ratio: bigint | undefined,
  option: (name: RatioOption) => bigint | undefined,
): PriceSheet {
  const prices = withOptions(set.prices, ratio, option)
  const perHour = ratio === undefined ? set.perHour : ratio * ratioOne * tokensPerSoundHour
  return {
    model,
    // A ratio option is a price for tokens, even if the default price is per search unit.
    basis: ratio !== undefined && set.basis === 'search' ? 'tokens' : set.basis,
    prices,
    tiers: set.tiers.map((tier) => ({ above: tier.above, prices: inProportion(tier.prices, set.prices, prices) })),
    perCall: ratio === undefined ? set.perCall : 0n,
    perHour: set.basis === 'duration' ? perHour : 0n,
    minimumSeconds: set.minimumSeconds,
    source: ratio === undefined ? 'default' : 'option',
    modelRatio: decimalText(scaleRational(prices.input, ratioOne, quotaOne), 6),
    completionRatio: prices.input === 0n ? '0' : decimalText(scaleRational(prices.output, ratioOne, prices.input), 6),
  }
}

/**
 * The default class prices with the options applied. If no option sets a class, its price keeps its ratio to a base
 * price. For example, the base price of cached input is the price of input, and that of reasoning is the price of
 * output.
 */
function withOptions(
  base: ClassPrices,
  ratio: bigint | undefined,
  option: (name: RatioOption) => bigint | undefined,
): ClassPrices {
  const input = ratio === undefined ? base.input : ratio * ratioOne
  const times = (name: RatioOption, price: bigint, otherwise: bigint): bigint => {
    const multiplier = option(name)
    return multiplier === undefined ? otherwise : (price * multiplier) / ratioOne
  }
  const output = times('CompletionRatio', input, follow(base.output, base.input, input))
  const cacheWrite = times('CreateCacheRatio', input, follow(base.cacheWrite, base.input, input))
  const audioInput = times('AudioRatio', input, follow(base.audioInput, base.input, input))
  const audioAnchor = option('AudioRatio') === undefined ? follow(base.audioOutput, base.output, output) : audioInput
  return {
    input,
    output,
    cacheWrite,
    audioInput,
    cachedInput: times('CacheRatio', input, follow(base.cachedInput, base.input, input)),
    cacheWrite1h: follow(base.cacheWrite1h, base.cacheWrite, cacheWrite),
    cachedAudioInput: times('CacheRatio', audioInput, follow(base.cachedAudioInput, base.audioInput, audioInput)),
    imageInput: times('ImageRatio', input, follow(base.imageInput, base.input, input)),
    reasoning: follow(base.reasoning, base.output, output),
    audioOutput: times('AudioCompletionRatio', audioInput, audioAnchor),
    imageOutput: follow(base.imageOutput, base.output, output),
  }
}

/** A tier's prices, scaled in the same way as the options scaled the base prices. */
function inProportion(tier: ClassPrices, from: ClassPrices, to: ClassPrices): ClassPrices {
  const moved = (name: keyof ClassPrices): bigint => follow(tier[name], from[name], to[name])
  return {
    input: moved('input'),
    cachedInput: moved('cachedInput'),
    cacheWrite: moved('cacheWrite'),
    cacheWrite1h: moved('cacheWrite1h'),
    audioInput: moved('audioInput'),
    cachedAudioInput: moved('cachedAudioInput'),
    imageInput: moved('imageInput'),
    output: moved('output'),
    reasoning: moved('reasoning'),
    audioOutput: moved('audioOutput'),
    imageOutput: moved('imageOutput'),
  }
}
