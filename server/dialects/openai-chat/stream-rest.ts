import { isObject, type JsonObject, stringify } from '../../lib/json.ts'
import type { TextBuffer } from '../metering/text-buffer.ts'
import { looseList, looseObject, looseText } from '../neutral/fields.ts'
import { thoughtOf } from './reasoning.ts'

/** A call as it has been sent to the caller so far. */
export interface SentCall {
  /** The service's index; undefined = it sent none. */
  readonly number: number | undefined
  readonly id: string
  /** The id as the service sent it; '' = it sent none. */
  readonly givenId: string
  readonly input: TextBuffer
}

/** The parts of one choice that have been passed on. */
export interface SentParts {
  readonly text: TextBuffer
  readonly reasoning: TextBuffer
  readonly refusal: TextBuffer
  readonly calls: readonly SentCall[]
  readonly hasCitations: boolean
  readonly hasMedia: boolean
}

/**
 * The message of a choice as received in chunks so far. Some services repeat the complete message in each chunk, some
 * send it only in the last chunk, and some send each piece as a message.
 */
export function laterMessage(before: JsonObject | undefined, message: JsonObject): JsonObject {
  const textBefore = looseText(before?.['content'])
  const text = looseText(message['content'])
  if (textBefore === '' || text === '' || text.startsWith(textBefore))
    return { ...before, ...message, content: text || textBefore }
  return { ...before, ...message, content: textBefore + text }
}

/**
 * Compares a complete message with its deltas, and returns what the deltas did not contain as another delta. If a part
 * begins differently from its deltas, nothing is added to it.
 */
export function restOf(message: JsonObject, sent: SentParts): JsonObject {
  const content = textIn(message['content'])
  const calls = restOfCalls(looseList(message['tool_calls']), sent.calls)
  const old = message['function_call']
  return {
    reasoning_content: restOfText(thoughtOf(message) ?? '', sent.reasoning),
    content: restOfText(content, sent.text),
    refusal: restOfText(looseText(message['refusal']), sent.refusal),
    ...(calls.length > 0 && { tool_calls: calls }),
    ...(isObject(old) && sent.calls.length === 0 && { function_call: old }),
    ...(!sent.hasCitations && message['annotations'] !== undefined && { annotations: message['annotations'] }),
    ...(!sent.hasMedia && { audio: message['audio'], images: message['images'] }),
  }
}

function textIn(content: unknown): string {
  if (typeof content === 'string') return content
  return looseList(content)
    .map((part) => looseText(part['text']))
    .join('')
}

function restOfText(whole: string, sentText: TextBuffer): string {
  return whole.length > sentText.length && whole.startsWith(sentText.toString()) ? whole.slice(sentText.length) : ''
}

function restOfCalls(calls: readonly JsonObject[], sentCalls: readonly SentCall[]): JsonObject[] {
  const byId = new Map<string, SentCall>()
  let free = 0
  for (const each of sentCalls) {
    if (!byId.has(each.id)) byId.set(each.id, each)
    free = Math.max(free, (each.number ?? -1) + 1)
  }
  return calls.flatMap<JsonObject>((call, at) => {
    const id = looseText(call['id'])
    const known = id === '' ? sentCalls[at] : byId.get(id)
    if (!known) return { ...call, index: free + at }
    const called = looseObject(call['function'] ?? call['custom'])
    const whole = called['arguments'] ?? called['input']
    const rest = restOfText(isObject(whole) ? stringify(whole) : looseText(whole), known.input)
    return rest === '' ? [] : { index: known.number, id: known.givenId, function: { arguments: rest } }
  })
}
