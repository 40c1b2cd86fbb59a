import type { ModelCost as WrittenCost } from '../../../contract/api/channel-costs.ts'
import type { CostRates, ModelCost } from '../../billing/cost-sheet.ts'
import { scaleDecimal } from '../../lib/decimal.ts'
import { isObject, tryParse } from '../../lib/json.ts'

/** The prices of a channel's upstream: for individual models, and as a multiplier for all other models. */
export interface ChannelCosts {
  readonly multiplier: ModelCost | undefined
  readonly models: ReadonlyMap<string, ModelCost>
}

/**
 * The price that a channel's upstream charges for a model. `model` is the name that is sent upstream. Undefined if the
 * price is not known.
 */
export function channelCost({ costs }: { costs: ChannelCosts | undefined }, model: string): ModelCost | undefined {
  return costs && (costs.models.get(model) ?? costs.multiplier)
}

/** Parses the stored costs of a channel. Undefined if there are none. */
export function costsOf(stored: string): ChannelCosts | undefined {
  const parsed = stored === '' ? undefined : tryParse(stored)
  if (!isObject(parsed)) return undefined
  const { multiplier, models } = parsed
  const listed = Object.entries(isObject(models) ? (models as Record<string, WrittenCost>) : {})
  return {
    multiplier: typeof multiplier === 'number' ? { multiplier: millionths(multiplier) } : undefined,
    models: new Map(listed.map(([model, cost]) => [model, costOf(cost)])),
  }
}

/** Converts a stored cost or price into the form that the relay uses in calculations. */
export function costOf(cost: WrittenCost): ModelCost {
  if (cost.multiplier !== undefined) return { multiplier: millionths(cost.multiplier) }
  const rate = (name: keyof CostRates, value: number | undefined): CostRates =>
    value === undefined ? {} : { [name]: millionths(value) }
  return {
    rates: {
      ...rate('input', cost.input),
      ...rate('output', cost.output),
      ...rate('cached', cost.cached),
      ...rate('cacheWrite', cost.cache_write),
      ...rate('request', cost.request),
    },
  }
}

/** Converts a number with at most six decimals into millionths, without rounding errors. */
function millionths(value: number): bigint {
  return scaleDecimal(String(value), 6)?.value ?? 0n
}
