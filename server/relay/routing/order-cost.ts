import { chargeTokens } from '../../billing/price.ts'
import type { PriceBook } from '../../billing/price-book.ts'
import { channelCost } from './channel-cost.ts'
import type { ChannelCost } from './channel-order.ts'
import { mappedModel } from './routing-table.ts'

/** A typical call of an agent or a chat, with a long prompt and a short answer. */
const sample = { promptTokens: 100_000, completionTokens: 10_000 }

/**
 * Returns the function by which channels are compared. Its result is the cost of the sample call on a channel, in quota
 * units.
 */
export function createOrderCost(prices: () => PriceBook): ChannelCost {
  return (channel, model) => {
    const upstreamModel = mappedModel(channel, model)
    const cost = channelCost(channel, upstreamModel)
    const costing = cost && prices().costing(upstreamModel, channel.type, cost)
    return costing && chargeTokens(sample, costing.sheet, costing.ratio)
  }
}
