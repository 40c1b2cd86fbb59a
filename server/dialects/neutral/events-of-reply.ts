import type { Reply, StreamEvent } from './reply.ts'

/**
 * Converts a non-streamed answer to the events of a stream. This serves callers who request a stream although the
 * service does not support streaming.
 */
export function replyEvents(reply: Reply): StreamEvent[] {
  const { id, model, createdAtSeconds, usage } = reply
  const events: StreamEvent[] = [
    {
      type: 'start',
      ...(id !== undefined && { id }),
      ...(model !== undefined && { model }),
      ...(createdAtSeconds !== undefined && { createdAtSeconds }),
    },
  ]
  for (const [choice, { parts, stop }] of reply.choices.entries()) {
    for (const [index, part] of parts.entries())
      events.push({ type: 'part', choice, index, part }, { type: 'part-end', choice, index })
    events.push({ type: 'stop', choice, stop })
  }
  if (usage) events.push({ type: 'usage', usage })
  return [...events, { type: 'end' }]
}
