import type { Db } from '../store/store.ts'
import { rankUsage } from '../store/usage/usage-query.ts'

const hourSeconds = 3600
const dayHours = 24
const mostChannels = 5000

/** A channel whose requests cost more than was charged for them, in quota units. */
export interface ChannelLoss {
  id: number
  loss: number
  /** The amount charged for the requests whose cost is known. */
  charged: number
}

/** The channels with a loss in the last 24 hours, and the start of that period in epoch seconds. */
export async function channelLosses(db: Db, now: number): Promise<{ since: number; losses: ChannelLoss[] }> {
  const to = Math.floor(now / hourSeconds) + 1
  const range = { from: to - dayHours, to }
  const { top } = await rankUsage(db, { filter: {}, range, group: 'channel_id', metric: 'margin', limit: mostChannels })
  const losses = top
    .filter(({ margin }) => margin < 0)
    .map(({ g, cost, margin }) => ({ id: Number(g), loss: -margin, charged: cost + margin }))
  return { since: range.from * hourSeconds, losses }
}
