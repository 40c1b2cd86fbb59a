import type { ChannelOrder } from '../../../contract/channel-orders.ts'
import type { AnyCall } from './call.ts'
import type { RelayDeps } from './deps.ts'

/** The order of channels for a call: that of its group, or that of the installation. */
export function orderFor({ settings }: Pick<RelayDeps, 'settings'>, { caller }: Pick<AnyCall, 'caller'>): ChannelOrder {
  const { ChannelOrder: order, GroupChannelOrder: orders } = settings()
  return orders.get(caller.group) ?? (order as ChannelOrder)
}
