import { isObject } from '../../lib/json.ts'
import { fieldsOf } from '../body/json-body.ts'
import type { AnyCall } from './call.ts'

/** The field that holds the turns of a conversation, if it is not `messages`. */
const turnFields: Readonly<Record<string, string>> = { gemini: 'contents', 'openai-responses': 'input' }

/** True if the conversation of a call contains something that a model has answered, so that it is not its beginning. */
export function hasEarlierTurns({ dialect, mode, state: { body } }: AnyCall): boolean {
  if (mode !== 'chat' || body.kind !== 'json') return false
  const turns = fieldsOf(body)[turnFields[dialect] ?? 'messages']
  return Array.isArray(turns) && turns.some(isAnswer)
}

/** Items of the Responses API other than messages are calls, results and thoughts. */
function isAnswer(turn: unknown): boolean {
  if (!isObject(turn)) return false
  const { role, type } = turn
  return (
    role === 'assistant' || role === 'model' || (role === undefined && typeof type === 'string' && type !== 'message')
  )
}
