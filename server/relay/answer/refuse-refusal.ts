import { isObject, type JsonObject } from '../../lib/json.ts'
import type { Answer } from '../charging/measure.ts'
import type { Answering } from '../charging/settlement.ts'
import { exitOfRefusal, RefusedAnswer, type Stopped } from '../failures/refused-answer.ts'

/**
 * Throws RefusedAnswer if a complete response contains only a refusal, or was emptied by a filter, and the call's
 * virtual model continues with another step in that case. The error contains the response and the function that
 * delivers it (`deliver`). They are used if no other step answers.
 */
export function refuseRefusal(
  { open, response: { status } }: Answering,
  stops: () => readonly Stopped[],
  answer: Answer,
  deliver: () => Promise<Response>,
): void {
  const exit = exitOfRefusal(open.call, stops())
  if (exit) throw new RefusedAnswer({ exit, status, open, answer, deliver })
}

/**
 * Returns how each choice of a chat or completion in OpenAI's format ended (OpenAI API reference, "The chat completion
 * object").
 */
export function stopsIn(choices: unknown): Stopped[] {
  if (!Array.isArray(choices)) return []
  return choices.map((choice: unknown) => {
    const { message, text, finish_reason: reason } = isObject(choice) ? choice : {}
    const { content = text, refusal, ...more } = isObject(message) ? message : {}
    const isSilent = content === undefined || content === null || (typeof content === 'string' && content.trim() === '')
    const hasRefused = typeof refusal === 'string' && refusal !== ''
    return {
      reason: reason === 'content_filter' ? 'content-filter' : hasRefused ? 'refusal' : 'stop',
      isEmpty: isSilent && !saysMore(more),
    }
  })
}

/** True if a message contains something other than text. */
function saysMore({ tool_calls: calls, function_call: call, images, audio }: JsonObject): boolean {
  const hasList = [calls, images].some((list) => Array.isArray(list) && list.length > 0)
  return hasList || isObject(call) || isObject(audio)
}
