/** The criteria that can decide between channels of equal priority. */
export const channelOrders = ['weight', 'cost', 'latency'] as const

export type ChannelOrder = (typeof channelOrders)[number]
