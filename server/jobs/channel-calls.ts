import type { RelayDeps } from '../relay/call/deps.ts'
import type { ChannelCare } from './channel-care.ts'

/** The functions with which the management API queries channels and starts work on them. */
export function channelCalls({ health, ask, prices, probeDraft }: ChannelCare, { unsupportedFeatures }: RelayDeps) {
  return {
    missingAt: (id: number) =>
      unsupportedFeatures.ofChannel(id).map(({ untilMs, ...each }) => ({ ...each, until: Math.ceil(untilMs / 1000) })),
    testChannel: health.test,
    testAllChannels: health.testAll,
    updateBalance: ask.balance,
    updateAllBalances: ask.allBalances,
    upstreamModels: ask.models,
    upstreamPrices: ask.prices,
    syncPrices: prices.check,
    probeDraft,
  }
}
