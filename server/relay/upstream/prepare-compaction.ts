import type { Conversation } from '../../dialects/neutral/conversation.ts'
import { needsOf } from '../../dialects/neutral/needs.ts'
import { askingForSummary, compactionDialect } from '../../dialects/openai-responses/compaction.ts'
import type { ChatEndpoint, ModeEndpoint } from '../../providers/provider.ts'
import type { RelayDeps } from '../call/deps.ts'
import type { Channel } from '../routing/routing-table.ts'
import type { Attempting, Codec } from './prepare.ts'

/** The name under which compaction is stored in the list of features that a channel does not support. */
export function compactionFeature({ id, upstream }: Channel): string {
  return `${id} ${upstream.baseUrl} compaction`
}

/** True if an endpoint supports compaction and its service has not recently rejected it. */
export function hasCompaction(
  deps: Pick<RelayDeps, 'unsupportedFeatures'>,
  channel: Channel,
  endpoint: ChatEndpoint | ModeEndpoint,
): boolean {
  return 'compactTarget' in endpoint && !deps.unsupportedFeatures.has(compactionFeature(channel))
}

/**
 * True if the service itself compacts the conversation. The output of a compaction cannot be limited. If the quota
 * requires a limit, the gateway therefore asks the model for a summary instead.
 */
export function compactsNatively(
  deps: Pick<RelayDeps, 'unsupportedFeatures'>,
  { call, channel, endpoint, capTokens, ownSummary }: Attempting,
): boolean {
  if (ownSummary || (call.compacts === 'call' && capTokens !== undefined)) return false
  return hasCompaction(deps, channel, endpoint)
}

/**
 * The conversation to send if the gateway asks the model for a summary, and the features that a service needs for it.
 */
export function summaryRequest(conversation: Conversation) {
  const asking = askingForSummary(conversation)
  return { conversation: asking, needs: needsOf(asking) }
}

/** The dialect in which the caller receives the summary. */
export function summaryCodec(deps: RelayDeps, { call }: Attempting): Pick<NonNullable<Codec['to']>, 'dialect'> {
  const seal = (summary: string) => deps.compactionSeals.seal(call.caller.tokenId, summary)
  return { dialect: compactionDialect(call.compacts ?? 'item', seal) }
}
