import { reasonsUnseen } from '../../billing/model-limits.ts'
import type { AnyCall } from '../call/call.ts'
import type { Channel } from '../routing/routing-table.ts'
import type { UnsupportedFeatures } from '../routing/unsupported-features.ts'
import type { AttemptFailed } from './retry-policy.ts'

const names = /stream_options|include_usage/
const refusal =
  /un(?:known|recogni[sz]ed|supported|expected)|not (?:supported|allowed|permitted|recogni[sz]ed|known)|invalid|extra/i

/**
 * True if a service rejects the request to report the usage of a stream. Services that do not know OpenAI's
 * `stream_options` do so, for example Azure's older API versions and older servers of open models. False if the error
 * may merely quote the caller's text. Also false for models whose reasoning is hidden, because that reasoning can be
 * charged only from the reported usage.
 */
export function isAboutUsage(
  { status, error }: AttemptFailed,
  { facts, mode, state: { body } }: AnyCall,
  { provider }: Channel,
  upstreamModel: string,
): boolean {
  const isRequested = facts.stream && (mode === 'chat' || mode === 'completions') && provider.asksForStreamUsage
  if (!isRequested || (status !== 400 && status !== 422) || reasonsUnseen(upstreamModel)) return false
  return names.test(error.message) && refusal.test(error.message) && body.kind === 'json' && !names.test(body.text)
}

/** True if a model of a channel recently refused to report usage. The gateway then counts the usage of its streams. */
export function refusesUsage(unsupported: UnsupportedFeatures, channel: Channel, upstreamModel: string): boolean {
  return unsupported.has(usageFeature(channel, upstreamModel))
}

export function noteRefusesUsage(
  unsupported: UnsupportedFeatures,
  channel: Channel,
  upstreamModel: string,
  failed: AttemptFailed,
): void {
  unsupported.note(usageFeature(channel, upstreamModel), failed.error.message)
}

function usageFeature({ id, upstream }: Channel, upstreamModel: string): string {
  return `${id} ${upstream.baseUrl} usage of ${upstreamModel}`
}
