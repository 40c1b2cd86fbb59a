import type { CallMode } from '../../../contract/relay-modes.ts'
import type { PriceSheet } from '../../billing/price.ts'
import type { PriceBook } from '../../billing/price-book.ts'
import { GatewayError } from '../../errors.ts'
import type { AnyCall } from '../call/call.ts'
import { channelCost } from '../routing/channel-cost.ts'
import type { Channel } from '../routing/routing-table.ts'
import type { Charging } from './charging-types.ts'
import { imageCharging } from './image-charging.ts'
import { searchCharging, sessionCharging, speechCharging, transcriptionCharging } from './media-charging.ts'
import { TokenCharging } from './token-charging.ts'
import { toolFees } from './tool-fees.ts'

/** A call, with the channel for which it is priced. */
export interface Priced {
  call: AnyCall
  prices: PriceBook
  /** The upstream's name for the model. */
  model: string
  channel: Channel
  sliceTokens: number
}

/**
 * The price of a call, and its cost to the operator if the channel's prices are known. Throws GatewayError
 * (model_not_priced, image errors).
 */
export function chargingFor(priced: Priced): Charging {
  const { call, prices, model, channel } = priced
  const sheet = fixedSheet(priced) ?? prices.sheet(model, channel.type)
  if (!sheet) {
    throw new GatewayError('model_not_priced', `model ${model} has no price; ask the administrator to set one`, {
      param: 'model',
    })
  }
  const charging = chargingAt(priced, sheet, prices.groupRatio(call.caller.group, call.caller.userGroup))
  const cost = channel.costs && costingFor(priced)
  if (cost) charging.cost = cost
  return charging
}

/**
 * The fixed price of a virtual model. It applies only to calls that are priced by tokens or by request. All other calls
 * keep the price of the model that answers.
 */
function fixedSheet({ call, prices, model, channel }: Priced): PriceSheet | undefined {
  const rates = call.step?.price
  if (!rates || !pricedByTokens.has(call.mode)) return undefined
  if (call.mode === 'rerank' && prices.sheet(model, channel.type)?.basis === 'search') return undefined
  return prices.fixedSheet(call.plan?.name ?? model, rates)
}

const pricedByTokens: ReadonlySet<CallMode> = new Set(['chat', 'completions', 'embeddings', 'moderations', 'rerank'])

/** What a call costs the operator. */
function costingFor(priced: Priced): Charging | undefined {
  const { prices, model, channel } = priced
  const cost = channelCost(channel, model)
  const costing = cost && prices.costing(model, channel.type, cost)
  if (!costing) return undefined
  try {
    return chargingAt(priced, costing.sheet, costing.ratio)
  } catch (error) {
    // A call that has a price is served even if its cost to the operator cannot be computed.
    if (error instanceof GatewayError) return undefined
    throw error
  }
}

function chargingAt(
  { call, prices, model, channel, sliceTokens }: Priced,
  sheet: PriceSheet,
  groupRatio: bigint,
): Charging {
  if (call.mode === 'rerank' && sheet.basis === 'search') return searchCharging(call, sheet, groupRatio)
  switch (call.mode) {
    case 'images':
    case 'image-edits':
    case 'image-variations':
      return imageCharging(call, sheet, groupRatio, model)
    case 'speech':
      return speechCharging(call, sheet, groupRatio)
    case 'transcriptions':
    case 'translations':
      return transcriptionCharging(call, sheet, groupRatio)
    case 'realtime':
      return sessionCharging(sheet, groupRatio, sliceTokens)
    default:
      return new TokenCharging(
        call,
        sheet,
        groupRatio,
        model,
        sliceTokens,
        (tier) => prices.tierRatio(tier, model, channel.type),
        toolFees(call, prices, model, channel.type),
      )
  }
}
