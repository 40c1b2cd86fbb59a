import type { CallBody } from '../call/call.ts'
import type { CallRoute } from '../call/call-routes.ts'
import type { Caller } from '../call/caller.ts'
import type { RelayDeps } from '../call/deps.ts'
import { recordedBody } from '../call/recorded-body.ts'
import type { Incoming } from '../request/incoming.ts'
import { credentialOf } from './authenticate.ts'

/** Begins to record a call, with its body as the caller sent it, if a recording rule may apply to the call. */
export function beginRecording(
  { captures }: Pick<RelayDeps, 'captures'>,
  incoming: Incoming,
  { userId, tokenId }: Caller,
  { read, route }: { read: CallBody; route: CallRoute },
): void {
  if (!captures.isRecording()) return
  const { request, requestId } = incoming
  const { dialect } = route
  const credential = (credentialOf(request, dialect) ?? '').replace(/^Bearer\s+/i, '').trim()
  const recording = captures.begin({ requestId, userId, tokenId, request, dialect, credential })
  if (!recording) return
  recording.requested(recordedBody(read, ''))
  incoming.recording = recording
}
