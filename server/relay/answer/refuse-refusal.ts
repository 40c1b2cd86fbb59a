import { isObject, type JsonObject } from '../../lib/json.ts'
import type { RelayCall } from '../call/call.ts'
import type { Answer } from '../charging/measure.ts'
import { exitOfRefusal, leavesRefusals, RefusedAnswer, type Stopped } from '../failures/refused-answer.ts'

/**
 * Gives up a whole response that only refuses, or that a filter emptied, if the call's virtual model continues with
 * another step in that case. Throws RefusedAnswer.
 */
export function refuseRefusal(call: RelayCall, stops: () => readonly Stopped[], status: number, answer: Answer): void {
  if (!leavesRefusals(call)) return
  const exit = exitOfRefusal(call, stops())
  if (exit) throw new RefusedAnswer(exit, status, answer)
}

/** The choices of a chat or a completion in OpenAI's format (OpenAI API reference, "The chat completion object"). */
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
