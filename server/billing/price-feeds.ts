import type { ModelCost } from '../../contract/api/channel-costs.ts'
import { decimalText, scaleDecimal } from '../lib/decimal.ts'
import { isObject, type JsonObject } from '../lib/json.ts'

/**
 * A price list of another service. It maps each model to its cost in dollars; null if its price is of an unknown kind.
 */
export interface PriceList {
  models: ReadonlyMap<string, ModelCost | null>
  /** The groups that the list names. */
  groups: readonly string[]
}

/** The price at ratio 1, in dollars per million tokens. This is one-api's unit of ratios. */
const dollarsAtRatioOne = 2n

/** The number of decimals of products of ratios, and of the result. */
const places = 12
const keptPlaces = 6

/**
 * Reads the price lists of gateways that are based on one-api: `/api/pricing` and `/api/ratio_config` of new-api, and
 * `/api/prices` of one-hub. Undefined if the response is not one of these lists, or if the list does not contain the
 * group.
 */
export function gatewayFeed(answer: JsonObject, group: string): PriceList | undefined {
  const { data, group_ratio: ratios } = answer
  const groups = isObject(ratios) ? Object.keys(ratios) : []
  const named = group === '' ? 'default' : group
  const ratio = isObject(ratios) && Object.hasOwn(ratios, named) ? decimal(ratios[named]) : undefined
  if (group !== '' && ratio === undefined) return undefined
  const times = ratio ?? one
  if (Array.isArray(data)) {
    const rows = data.filter(isObject)
    const models = new Map(rows.flatMap((row) => entryOf(row, times)))
    return models.size > 0 ? { models, groups } : undefined
  }
  return isObject(data) ? configFeed(data, times) : undefined
}

function entryOf(row: JsonObject, times: bigint): [string, ModelCost | null][] {
  const { model_name: name, model } = row
  if (typeof name === 'string' && name !== '') return [[name, ratioCost(row, times)]]
  if (typeof model === 'string' && model !== '') return [[model, hubCost(row, times)]]
  return []
}

/** A row of new-api's list. Prices that are formulas cannot be read. */
function ratioCost(row: JsonObject, times: bigint): ModelCost | null {
  const kind = row['quota_type'] ?? 0
  if (typeof row['billing_expr'] === 'string' && row['billing_expr'] !== '') return null
  if (kind === 1) return costOf({ request: product(decimal(row['model_price']), times) })
  if (kind !== 0) return null
  const input = product(product(decimal(row['model_ratio']), dollarsAtRatioOne * one), times)
  const relative = (name: string) => product(input, decimal(row[name]))
  return costOf({
    input,
    output: relative('completion_ratio'),
    cached: relative('cache_ratio'),
    cache_write: relative('create_cache_ratio'),
  })
}

/**
 * A row of one-hub's list. Its prices are ratios for input and output. A price per request is in units of a thousand
 * tokens at ratio 1.
 */
function hubCost(row: JsonObject, times: bigint): ModelCost | null {
  const rate = (name: string) => product(product(decimal(row[name]), dollarsAtRatioOne * one), times)
  if (row['type'] === 'times') return costOf({ request: product(rate('input'), one / 1000n) })
  return row['type'] === 'tokens' ? costOf({ input: rate('input'), output: rate('output') }) : null
}

/** Reads the response of `/api/ratio_config`, which has one table for each kind of ratio. */
function configFeed(data: JsonObject, times: bigint): PriceList | undefined {
  const table = (name: string) => (isObject(data[name]) ? data[name] : {})
  const [ratios, prices] = [table('model_ratio'), table('model_price')]
  const valueIn = (name: string, model: string) => (Object.hasOwn(table(name), model) ? table(name)[model] : undefined)
  const names = new Set([...Object.keys(ratios), ...Object.keys(prices)])
  const models = [...names].map((model): [string, ModelCost | null] => {
    const row = Object.fromEntries(
      ['completion_ratio', 'cache_ratio', 'create_cache_ratio', 'model_ratio', 'model_price'].map((name) => [
        name,
        valueIn(name, model),
      ]),
    )
    return [model, ratioCost({ ...row, quota_type: Object.hasOwn(prices, model) ? 1 : 0 }, times)]
  })
  return models.length > 0 ? { models: new Map(models), groups: [] } : undefined
}

/**
 * Reads OpenRouter's list of models (https://openrouter.ai/docs/api-reference/list-available-models), whose prices are
 * in dollars per token.
 */
export function openRouterFeed({ data }: JsonObject): PriceList | undefined {
  if (!Array.isArray(data)) return undefined
  const models = data.flatMap((row: unknown): [string, ModelCost | null][] => {
    if (!isObject(row) || typeof row['id'] !== 'string' || !isObject(row['pricing'])) return []
    const { pricing, id } = row
    const rate = (name: string) => perMillion(pricing[name])
    const cost = costOf({
      input: rate('prompt'),
      output: rate('completion'),
      cached: rate('input_cache_read'),
      cache_write: rate('input_cache_write'),
      request: positive(decimal(pricing['request'])),
    })
    return [[id, cost]]
  })
  return models.length > 0 ? { models: new Map(models), groups: [] } : undefined
}

const one = 10n ** BigInt(places)

/** A number or a decimal text, in units of 10^-12; undefined if it is neither, or if it is negative. */
function decimal(value: unknown): bigint | undefined {
  if (typeof value !== 'number' && typeof value !== 'string') return undefined
  const scaled = scaleDecimal(String(value), places)
  return scaled && scaled.value >= 0n ? scaled.value : undefined
}

/** Converts a price per token exactly to a price per million tokens. */
function perMillion(value: unknown): bigint | undefined {
  if (typeof value !== 'number' && typeof value !== 'string') return undefined
  const scaled = scaleDecimal(String(value), places + 6)
  return scaled && scaled.value >= 0n ? scaled.value : undefined
}

const positive = (value: bigint | undefined) => (value === 0n ? undefined : value)

function product(each: bigint | undefined, other: bigint | undefined): bigint | undefined {
  return each === undefined || other === undefined ? undefined : (each * other) / one
}

/** A cost in dollars with six decimals; null if nothing could be read, or if a price is absurdly high. */
function costOf(rates: Readonly<Partial<Record<keyof ModelCost, bigint | undefined>>>): ModelCost | null {
  const cost: ModelCost = {}
  for (const [name, value] of Object.entries(rates) as [keyof ModelCost, bigint | undefined][]) {
    if (value === undefined) continue
    const divisor = 10n ** BigInt(places - keptPlaces)
    const dollars = Number(decimalText((value + divisor / 2n) / divisor, keptPlaces))
    if (dollars > 1_000_000) return null
    cost[name] = dollars
  }
  return cost.input === undefined && cost.request === undefined ? null : cost
}
