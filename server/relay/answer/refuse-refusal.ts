import { isObject } from '../../lib/json.ts'
import type { RelayCall } from '../call/call.ts'
import { RefusedAnswer } from '../failures/refused-answer.ts'

/** How one choice of a whole response ended. */
export interface Stopped {
  /** A neutral reason. */
  reason: string
  /** It says nothing but that it refuses. */
  isEmpty: boolean
}

/**
 * Gives up a whole response that only refuses, or that a filter emptied, if the call's virtual model goes on to another
 * step in that case. Throws RefusedAnswer.
 */
export function refuseRefusal({ step }: RelayCall, stops: () => readonly Stopped[], status: number): void {
  const { next } = step ?? {}
  if (!next?.has('refusal') && !next?.has('content_filter')) return
  const all = stops()
  if (all.length === 0 || !all.every(({ isEmpty }) => isEmpty)) return
  const isFiltered = all.some(({ reason }) => reason === 'content-filter')
  const exit = isFiltered ? 'content_filter' : 'refusal'
  const isRefused = isFiltered || all.every(({ reason }) => reason === 'refusal')
  if (isRefused && next.has(exit)) throw new RefusedAnswer(exit, status)
}

/** The choices of a response in OpenAI's chat format (OpenAI API reference, "The chat completion object"). */
export function stopsIn(choices: unknown): Stopped[] {
  if (!Array.isArray(choices)) return []
  return choices.map((choice: unknown) => {
    const { message, finish_reason: reason } = isObject(choice) ? choice : {}
    const { content, refusal, tool_calls: calls } = isObject(message) ? message : {}
    const isSilent = content === undefined || content === null || (typeof content === 'string' && content.trim() === '')
    const hasRefused = typeof refusal === 'string' && refusal !== ''
    return {
      reason: reason === 'content_filter' ? 'content-filter' : hasRefused ? 'refusal' : 'stop',
      isEmpty: isSilent && !(Array.isArray(calls) && calls.length > 0),
    }
  })
}
