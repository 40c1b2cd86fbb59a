import type { ChannelOrder } from '../../../contract/channel-orders.ts'
import { servingGroup } from './at-step.ts'
import type { AnyCall } from './call.ts'
import type { RelayDeps } from './deps.ts'

/** The order in which a call prefers channels, as set for its group or for the whole installation. */
export function orderFor(
  { settings }: Pick<RelayDeps, 'settings'>,
  call: Pick<AnyCall, 'caller' | 'step'>,
): ChannelOrder {
  const { ChannelOrder: order, GroupChannelOrder: orders } = settings()
  return orders.get(servingGroup(call)) ?? (order as ChannelOrder)
}
