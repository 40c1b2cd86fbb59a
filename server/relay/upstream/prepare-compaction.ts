import type { Conversation } from '../../dialects/neutral/conversation.ts'
import { needsOf } from '../../dialects/neutral/needs.ts'
import { askingForSummary, compactionDialect } from '../../dialects/openai-responses/compaction.ts'
import type { ChatEndpoint, ModeEndpoint } from '../../providers/provider.ts'
import type { RelayDeps } from '../call/deps.ts'
import type { Channel } from '../routing/routing-table.ts'
import type { Attempting, Codec } from './prepare.ts'

/** The name of compaction in the list of features that a channel's service does not support. */
export function compactionFeature({ id, upstream }: Channel): string {
  return `${id} ${upstream.baseUrl} compaction`
}

/** Whether an endpoint's service is believed to have compaction. */
export function hasCompaction(
  deps: Pick<RelayDeps, 'unsupportedFeatures'>,
  channel: Channel,
  endpoint: ChatEndpoint | ModeEndpoint,
): boolean {
  return 'compactTarget' in endpoint && !deps.unsupportedFeatures.has(compactionFeature(channel))
}

/**
 * True if the service itself compacts the conversation. A compaction has no limit of its output, so if the quota
 * requires a limit, the gateway asks for a summary instead.
 */
export function compactsNatively(
  deps: Pick<RelayDeps, 'unsupportedFeatures'>,
  { call, channel, endpoint, capTokens, ownSummary }: Attempting,
): boolean {
  if (ownSummary || (call.compacts === 'call' && capTokens !== undefined)) return false
  return hasCompaction(deps, channel, endpoint)
}

/** The conversation to send if the gateway asks the model for a summary, and what the summary needs of a service. */
export function summaryRequest(conversation: Conversation) {
  const asking = askingForSummary(conversation)
  return { conversation: asking, needs: needsOf(asking) }
}

/** The dialect in which the caller receives the summary. */
export function summaryCodec(deps: RelayDeps, { call }: Attempting): Pick<NonNullable<Codec['to']>, 'dialect'> {
  const seal = (summary: string) => deps.compactionSeals.seal(call.caller.tokenId, summary)
  return { dialect: compactionDialect(call.compacts ?? 'item', seal) }
}
