import type { Usage } from '../../../contract/usage.ts'
import { isObject, type JsonObject, stringify } from '../../lib/json.ts'
import { looseList, looseObject, looseText } from '../neutral/fields.ts'
import type { Reply, ReplyPart, Stop } from '../neutral/reply.ts'

/**
 * An Ollama chat response (API reference). A response without a message has no choices. Calls without an id get one
 * derived from `idSeed`.
 */
export function decodeReply(wire: JsonObject, idSeed: string): Reply {
  const message = looseObject(wire['message'])
  const { thinking, content } = message
  const calls = callsIn(message, idSeed, 0)
  const usage = usageIn(wire)
  const model = looseText(wire['model'])
  const created = createdIn(wire['created_at'])
  const parts: ReplyPart[] = [
    ...(looseText(thinking) ? [{ type: 'reasoning', text: looseText(thinking) } as const] : []),
    ...(looseText(content) ? [{ type: 'text', text: looseText(content) } as const] : []),
    ...calls,
  ]
  return {
    ...(model && { model }),
    ...(created !== undefined && { createdAtSeconds: created }),
    choices: isObject(wire['message']) ? [{ parts, stop: stopIn(wire['done_reason'], calls.length > 0) }] : [],
    ...(usage && { usage }),
  }
}

/** `created_at` in seconds since 1970. */
export function createdIn(time: unknown): number | undefined {
  const ms = Date.parse(looseText(time))
  return Number.isNaN(ms) ? undefined : Math.floor(ms / 1000)
}

/** The calls of a message. `before` is the number of calls in earlier messages of the same answer. */
export function callsIn(
  message: JsonObject,
  idSeed: string,
  before: number,
): Extract<ReplyPart, { type: 'tool-call' }>[] {
  return looseList(message['tool_calls']).map((call, index) => {
    const called = looseObject(call['function'])
    const { arguments: input } = called
    return {
      type: 'tool-call',
      id: looseText(call['id']) || `call_${idSeed}_${before + index}`,
      name: looseText(called['name']),
      input: isObject(input) ? stringify(input) : looseText(input) || '{}',
    }
  })
}

/** `done_reason` → Stop. Ollama reports "stop" even if the answer contains calls, and older versions report nothing. */
export function stopIn(reason: unknown, hasCalls: boolean): Stop {
  const name = looseText(reason)
  if (name === 'length') return { reason: 'length' }
  if (name === 'stop' || name === 'tool_calls' || name === '') return { reason: hasCalls ? 'tool-calls' : 'stop' }
  return { reason: 'other' }
}

/**
 * The token counts of the last message. Undefined if a count is missing. Ollama omits the prompt's count if the prompt
 * was still in its cache.
 */
export function usageIn(wire: JsonObject): Usage | undefined {
  const { prompt_eval_count: prompt, eval_count: completion = 0 } = wire
  return isCount(prompt) && isCount(completion) ? { promptTokens: prompt, completionTokens: completion } : undefined
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
}
