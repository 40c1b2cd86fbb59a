import type { ChannelCosts, ModelCost } from '../../../contract/api/channel-costs.ts'
import { rateNames } from '../../billing/compare-costs.ts'
import { ApiFailure } from '../../http/api-failure.ts'
import { costsText } from '../../jobs/stored-costs.ts'
import { scaleDecimal } from '../../lib/decimal.ts'
import { updateChannel } from '../../store/channels/channels.ts'
import type { Trx } from '../../store/store.ts'

/** Adds a source to costs, which gives their stored form. Costs without a multiplier and models get no source. */
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
  await updateChannel(trx, id, { costs: costsText(costs) })
}

/** Refuses costs that are incomplete or contradictory, or that have too many decimals. */
export function checkCosts({ multiplier, models }: Pick<ChannelCosts, 'multiplier' | 'models'>): void {
  refuseFineDecimals('multiplier', multiplier ?? undefined)
  for (const [model, cost] of Object.entries(models)) refuseCost(model, cost)
}

function refuseCost(model: string, cost: ModelCost): void {
  const given = rateNames.filter((name) => cost[name] !== undefined)
  if (model === '' || [...model].length > 200)
    throw new ApiFailure('The name of a model must have 1 to 200 characters.')
  if (given.length === 0) throw new ApiFailure(`Enter a price or a multiplier for ${model}.`)
  if (cost.multiplier !== undefined && given.length > 1)
    throw new ApiFailure(`Enter either prices or a multiplier for ${model}, not both.`)
  if (cost.multiplier === undefined && cost.input === undefined && cost.request === undefined)
    throw new ApiFailure(`Enter an input price or a price per request for ${model}.`)
  for (const name of given) refuseFineDecimals(model, cost[name])
}

function refuseFineDecimals(name: string, value: number | undefined): void {
  if (value !== undefined && scaleDecimal(String(value), 6)?.rounded !== false)
    throw new ApiFailure(`The numbers of ${name} may have at most six decimals.`)
}
