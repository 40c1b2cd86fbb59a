import type { JsonObject } from '../../lib/json.ts'
import { looseObject, looseText } from '../neutral/fields.ts'
import type { ReplyPart, Stop } from '../neutral/reply.ts'

const dialect = 'openai-responses'

/**
 * `status` and `incomplete_details` of a response → Stop. The types of the response's parts show whether tools were
 * called.
 */
export function stopIn(response: JsonObject, parts: readonly Pick<ReplyPart, 'type'>[]): Stop {
  const status = looseText(response['status'])
  const reason = looseText(looseObject(response['incomplete_details'])['reason'])
  const raw = { dialect, reason: reason || status } as const
  if (reason === 'max_output_tokens') return { reason: 'length', raw }
  if (reason === 'content_filter') return { reason: 'content-filter', raw }
  if (status !== 'completed' && status !== '') return { reason: 'other', raw }
  if (parts.some(({ type }) => type === 'tool-call')) return { reason: 'tool-calls', raw }
  return { reason: parts.some(({ type }) => type === 'refusal') ? 'refusal' : 'stop', raw }
}

/** Stop → `status` and `incomplete_details`. */
export function stopOut(stop: Stop): {
  status: 'completed' | 'incomplete'
  incomplete_details: { reason: string } | null
} {
  switch (stop.reason) {
    case 'length':
    case 'context-window':
    // The answer was paused so that the caller can continue it. It is therefore not complete.
    case 'pause':
      return { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } }
    case 'content-filter':
      return { status: 'incomplete', incomplete_details: { reason: 'content_filter' } }
    case 'refusal':
      // A refusal by Anthropic's classifiers cuts the answer off. A model that refuses on its own ends its turn
      // normally.
      return stop.raw?.dialect === 'anthropic-messages'
        ? { status: 'incomplete', incomplete_details: { reason: 'content_filter' } }
        : { status: 'completed', incomplete_details: null }
    case 'malformed-call':
    case 'other':
      return { status: 'incomplete', incomplete_details: { reason: stop.raw?.reason ?? 'other' } }
    default:
      return { status: 'completed', incomplete_details: null }
  }
}
