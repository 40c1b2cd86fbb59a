import { isObject, type JsonObject, stringify } from '../../lib/json.ts'
import type { TextBuffer } from '../metering/text-buffer.ts'
import { looseList, looseObject, looseText } from '../neutral/fields.ts'
import { thoughtOf } from './reasoning.ts'

/** A call as its caller knows it so far. */
export interface ToldCall {
  /** The service's index; undefined = it has none. */
  readonly number: number | undefined
  readonly id: string
  /** The id as the service sent it; '' = it sent none. */
  readonly givenId: string
  readonly input: TextBuffer
}

/** What has been passed on of one choice. */
export interface Told {
  readonly text: TextBuffer
  readonly reasoning: TextBuffer
  readonly refusal: TextBuffer
  readonly calls: readonly ToldCall[]
  readonly hasCitations: boolean
  readonly hasMedia: boolean
}

/**
 * The message of a choice as received in chunks so far. Some services repeat all of it in each chunk, some send it only
 * in the last one, and some make a message of every piece.
 */
export function laterMessage(before: JsonObject | undefined, message: JsonObject): JsonObject {
  const said = looseText(before?.['content'])
  const text = looseText(message['content'])
  if (said === '' || text === '' || text.startsWith(said)) return { ...before, ...message, content: text || said }
  return { ...before, ...message, content: said + text }
}

/**
 * The parts of a whole message that no delta contained, as a delta; parts that differ from their deltas stay as they
 * were sent.
 */
export function restOf(message: JsonObject, told: Told): JsonObject {
  const content = textIn(message['content'])
  const calls = restOfCalls(looseList(message['tool_calls']), told.calls)
  const old = message['function_call']
  return {
    reasoning_content: restOfText(thoughtOf(message) ?? '', told.reasoning),
    content: restOfText(content, told.text),
    refusal: restOfText(looseText(message['refusal']), told.refusal),
    ...(calls.length > 0 && { tool_calls: calls }),
    ...(isObject(old) && told.calls.length === 0 && { function_call: old }),
    ...(!told.hasCitations && message['annotations'] !== undefined && { annotations: message['annotations'] }),
    ...(!told.hasMedia && { audio: message['audio'], images: message['images'] }),
  }
}

function textIn(content: unknown): string {
  if (typeof content === 'string') return content
  return looseList(content)
    .map((part) => looseText(part['text']))
    .join('')
}

function restOfText(whole: string, told: TextBuffer): string {
  return whole.length > told.length && whole.startsWith(told.toString()) ? whole.slice(told.length) : ''
}

function restOfCalls(calls: readonly JsonObject[], told: readonly ToldCall[]): JsonObject[] {
  const byId = new Map<string, ToldCall>()
  let free = 0
  for (const each of told) {
    if (!byId.has(each.id)) byId.set(each.id, each)
    free = Math.max(free, (each.number ?? -1) + 1)
  }
  return calls.flatMap<JsonObject>((call, at) => {
    const id = looseText(call['id'])
    const known = id === '' ? told[at] : byId.get(id)
    if (!known) return { ...call, index: free + at }
    const called = looseObject(call['function'] ?? call['custom'])
    const whole = called['arguments'] ?? called['input']
    const rest = restOfText(isObject(whole) ? stringify(whole) : looseText(whole), known.input)
    return rest === '' ? [] : { index: known.number, id: known.givenId, function: { arguments: rest } }
  })
}
