import { isObject, type JsonObject } from '../../lib/json.ts'
import type { WordRule } from '../neutral/tool-rules.ts'
import { type CallIdFields, withFitIds } from '../wire/wire-ids.ts'

/**
 * The fields of a message that contain call ids: `tool_call_id` in a tool message; the `id` of each entry of
 * `tool_calls` in any other message.
 */
const callsIn: CallIdFields = {
  list: 'tool_calls',
  member: (value) =>
    value['role'] === 'tool' ? 'tool_call_id' : 'function' in value || 'custom' in value ? 'id' : undefined,
  isResult: (value) => value['role'] === 'tool',
}

/**
 * The messages of a request that is passed through, with call ids that the service accepts. Empty if nothing has to
 * change.
 */
export function repairChat({ messages }: JsonObject, rule: WordRule): JsonObject {
  if (!Array.isArray(messages) || !messages.some(hasCall)) return {}
  const fit = withFitIds(messages, rule, callsIn)
  return fit ? { messages: fit } : {}
}

function hasCall(message: unknown): boolean {
  return isObject(message) && ('tool_calls' in message || 'tool_call_id' in message)
}
