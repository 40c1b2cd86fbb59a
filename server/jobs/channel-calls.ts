import type { RelayDeps } from '../relay/call/deps.ts'
import type { ChannelCare } from './channel-care.ts'

/** What the management API can do with channels through the jobs. */
export function channelCalls({ health, ask }: ChannelCare, { unsupportedFeatures }: RelayDeps) {
  return {
    missingAt: (id: number) =>
      unsupportedFeatures.ofChannel(id).map(({ untilMs, ...each }) => ({ ...each, until: Math.ceil(untilMs / 1000) })),
    testChannel: health.test,
    testAllChannels: health.testAll,
    updateBalance: ask.balance,
    updateAllBalances: ask.allBalances,
    upstreamModels: ask.models,
  }
}
