import { isObject } from '../../lib/json.ts'
import { fieldsOf } from '../body/json-body.ts'
import type { AnyCall } from './call.ts'

/** The field that holds the turns of a conversation, if it is not `messages`. */
const turnFields: Readonly<Record<string, string>> = { gemini: 'contents', 'openai-responses': 'input' }

/** True if the conversation of a call contains an answer of a model, so that the call is not its first turn. */
export function hasEarlierTurns({ dialect, mode, state: { body } }: AnyCall): boolean {
  if (mode !== 'chat' || body.kind !== 'json') return false
  const turns = fieldsOf(body)[turnFields[dialect] ?? 'messages']
  return Array.isArray(turns) && turns.some(isAnswer)
}

/**
 * Whether a turn shows that a model has answered. Items of the Responses API that are not messages are tool calls,
 * their results, and reasoning.
 */
function isAnswer(turn: unknown): boolean {
  if (!isObject(turn)) return false
  const { role, type } = turn
  return (
    role === 'assistant' || role === 'model' || (role === undefined && typeof type === 'string' && type !== 'message')
  )
}
