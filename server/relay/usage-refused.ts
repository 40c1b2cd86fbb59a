import type { RelayCall } from './call.ts'
import type { MissingPlaces } from './missing-places.ts'
import type { AttemptFailed } from './retry-policy.ts'
import type { Channel } from './routing-table.ts'

/** Services that came before OpenAI's `stream_options` refuse it: Azure's older API versions, older servers of open models. */
export function isAboutUsage(
  { status, error }: AttemptFailed,
  { dialect, facts }: RelayCall,
  { provider }: Channel,
): boolean {
  const isOurs = dialect !== 'openai-chat' || !facts.wantsStreamUsage
  const isAsked = facts.stream && isOurs && provider.asksForStreamUsage
  return isAsked && (status === 400 || status === 422) && /stream_options|include_usage/.test(error.message)
}

/** True for a channel that was found to refuse it not long ago: its streams are counted here. */
export function refusesUsage(places: MissingPlaces, channel: Channel): boolean {
  return places.has(placeOf(channel))
}

export function noteRefusesUsage(places: MissingPlaces, channel: Channel): void {
  places.note(placeOf(channel))
}

function placeOf({ id, upstream }: Channel): string {
  return `${id} ${upstream.baseUrl} usage of streams`
}
