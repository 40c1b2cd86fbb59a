import type { ChannelCosts, CostsWithFeed, FeedInput, PriceFeed } from '../../contract/api/channel-costs.ts'
import type { CostTable } from '../billing/compare-costs.ts'
import { isObject, tryParse } from '../lib/json.ts'
import { splitList } from '../lib/split-list.ts'
import type { ChannelRow } from '../store/channels/channels.ts'

/** A price feed in its stored form, which includes the prices that an admin has refused. */
export type StoredFeed = PriceFeed & { refused: CostTable }

const noCosts: ChannelCosts = { multiplier: null, models: {}, source: null }

/** Parses the costs that are stored with a channel. */
export function costsOf({ costs }: Pick<ChannelRow, 'costs'>): ChannelCosts {
  const stored = costs === '' ? undefined : tryParse(costs)
  return isObject(stored) ? { ...noCosts, ...stored } : noCosts
}

/** The stored form of costs; '' if there are none. */
export function costsText(costs: ChannelCosts): string {
  return costs.multiplier === null && Object.keys(costs.models).length === 0 ? '' : JSON.stringify(costs)
}

/** A feed that has not been read yet. */
export function newFeed(input: FeedInput): StoredFeed {
  return { ...input, checked_at: 0, changed_at: 0, error: '', failed_at: 0, held: {}, refused: {} }
}

/** The stored feed of a channel; undefined if it has none. */
export function feedOf(stored: string): StoredFeed | undefined {
  const parsed = stored === '' ? undefined : tryParse(stored)
  return isObject(parsed) ? (parsed as unknown as StoredFeed) : undefined
}

/** The costs of a channel as the API returns them. */
export function costsWithFeed(costs: ChannelCosts, feed: StoredFeed | undefined): CostsWithFeed {
  return { ...costs, feed: feed ?? null }
}

/** The names of the channel's models as they are sent upstream. */
export function upstreamModels({ models, model_mapping: mapping }: ChannelRow): string[] {
  const parsed = tryParse(mapping || '{}')
  const mapped = isObject(parsed) ? parsed : {}
  const nameOf = (model: string) => {
    const name = Object.hasOwn(mapped, model) ? mapped[model] : undefined
    return typeof name === 'string' && name !== '' ? name : model
  }
  return [...new Set(splitList(models).map(nameOf))].sort()
}
