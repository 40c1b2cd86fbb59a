import type { RelayDeps } from '../call/deps.ts'
import type { OpenCall } from '../charging/settlement.ts'
import { noteHealth } from '../failures/note-health.ts'

/**
 * Records how a stream ended, for the health of its channel. If the channel broke the stream (`isBroken`), the next
 * call of the session prefers other channels. The current call cannot be retried on another channel, because its
 * response has begun.
 */
export function noteEnded(
  deps: Pick<RelayDeps, 'breaker' | 'sessionRests'>,
  open: OpenCall,
  how: Parameters<typeof noteHealth>[2],
  isBroken = how === 'faulty',
): void {
  const { channel, call } = open
  noteHealth(deps, open, how)
  if (isBroken && call.session !== undefined) deps.sessionRests.begin(call.session, channel.id, call.facts.model)
}
