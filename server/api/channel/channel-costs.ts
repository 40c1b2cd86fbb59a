import type { ChannelCosts, ModelCost } from '../../../contract/api/channel-costs.ts'
import { ApiFailure } from '../../http/api-failure.ts'
import { scaleDecimal } from '../../lib/decimal.ts'
import { isObject, tryParse } from '../../lib/json.ts'
import { type ChannelRow, updateChannel } from '../../store/channels/channels.ts'
import type { Trx } from '../../store/store.ts'

const noCosts: ChannelCosts = { multiplier: null, models: {}, source: null }

/** The costs that are stored with a channel. */
export function costsOf({ costs }: Pick<ChannelRow, 'costs'>): ChannelCosts {
  const stored = costs === '' ? undefined : tryParse(costs)
  return isObject(stored) ? { ...noCosts, ...stored } : noCosts
}

/** What the costs have for a model. */
export const ownOf = (models: Readonly<Record<string, ModelCost>>, model: string) =>
  Object.hasOwn(models, model) ? models[model] : undefined

/** The numbers of a model's cost. */
export const rateNames = ['input', 'output', 'cached', 'cache_write', 'request', 'multiplier'] as const

/** The number of models whose costs differ. */
export function changedModels(old: ChannelCosts, now: ChannelCosts): number {
  const names = new Set([...Object.keys(old.models), ...Object.keys(now.models)])
  return [...names].filter((model) => {
    const [from, to] = [ownOf(old.models, model), ownOf(now.models, model)]
    return !from || !to || rateNames.some((name) => from[name] !== to[name])
  }).length
}

/** Costs as they are stored: no costs have no source. */
export function withSource(
  { multiplier, models }: Pick<ChannelCosts, 'multiplier' | 'models'>,
  { kind, url }: { kind: NonNullable<ChannelCosts['source']>['kind']; url: string },
  time: number,
): ChannelCosts {
  const isEmpty = multiplier === null && Object.keys(models).length === 0
  return { multiplier, models, source: isEmpty ? null : { kind, url, time } }
}

/** Writes the costs of a channel. */
export async function saveChannelCosts(trx: Trx, id: number, costs: ChannelCosts): Promise<void> {
  await updateChannel(trx, id, { costs: costs.source === null ? '' : JSON.stringify(costs) })
}

/** Refuses costs that cannot be computed with. */
export function checkCosts({ multiplier, models }: Pick<ChannelCosts, 'multiplier' | 'models'>): void {
  refuseFineDecimals('multiplier', multiplier ?? undefined)
  for (const [model, cost] of Object.entries(models)) refuseCost(model, cost)
}

function refuseCost(model: string, cost: ModelCost): void {
  const given = rateNames.filter((name) => cost[name] !== undefined)
  if (model === '' || [...model].length > 200) throw new ApiFailure('A model must have a name of 1 to 200 characters.')
  if (given.length === 0) throw new ApiFailure(`Enter a price or a multiplier for ${model}.`)
  if (cost.multiplier !== undefined && given.length > 1)
    throw new ApiFailure(`Enter either prices or a multiplier for ${model}, not both.`)
  if (cost.multiplier === undefined && cost.input === undefined && cost.request === undefined)
    throw new ApiFailure(`Enter the price of input, or of a request, for ${model}.`)
  for (const name of given) refuseFineDecimals(model, cost[name])
}

function refuseFineDecimals(name: string, value: number | undefined): void {
  if (value !== undefined && scaleDecimal(String(value), 6)?.rounded !== false)
    throw new ApiFailure(`The numbers of ${name} may have at most six decimals.`)
}
