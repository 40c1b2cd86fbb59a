/** What can decide among channels of the same priority. */
export const channelOrders = ['weight', 'cost', 'latency'] as const

export type ChannelOrder = (typeof channelOrders)[number]
