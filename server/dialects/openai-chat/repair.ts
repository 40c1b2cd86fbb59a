import type { JsonObject } from '../../lib/json.ts'
import type { WordRule } from '../neutral/tool-rules.ts'
import { type CallPlaces, withFitIds } from '../wire/wire-ids.ts'

/** Ids of calls in a message: its own, where it is a tool's, and those of its calls. */
const callsIn: CallPlaces = {
  list: 'tool_calls',
  member: (value) =>
    value['role'] === 'tool' ? 'tool_call_id' : 'function' in value || 'custom' in value ? 'id' : undefined,
  isResult: (value) => value['role'] === 'tool',
}

/** Messages of a request that is passed on, where an id of a call in them is none that the service takes. */
export function repairChat({ messages }: JsonObject, text: string, rule: WordRule): JsonObject {
  if (!Array.isArray(messages) || !text.includes('tool_call')) return {}
  const fit = withFitIds(messages, rule, callsIn)
  return fit ? { messages: fit } : {}
}
