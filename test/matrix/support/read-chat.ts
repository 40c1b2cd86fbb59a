import { isObject, type JsonObject } from '../../../server/lib/json.ts'
import { expectedCharge } from '../../sdk/support/prices.ts'
import { type End, nothing, parsedInput, type Recorded, type WireReader } from './learned.ts'

const ends: Readonly<Record<string, End>> = {
  stop: 'stop',
  end_turn: 'stop',
  eos: 'stop',
  COMPLETE: 'stop',
  length: 'length',
  model_length: 'length',
  tool_calls: 'tool-calls',
  function_call: 'tool-calls',
  content_filter: 'content-filter',
}

/** OpenAI's chat completions, including the variations of other services that use the format. */
export const readChat: WireReader = {
  whole: (body) => readChunks([body], 'message'),
  stream: (data) =>
    readChunks(
      data.filter((each) => each !== '[DONE]' && each.trim() !== '').map((each) => JSON.parse(each) as JsonObject),
      'delta',
    ),
}

interface OpenCall {
  id: string | undefined
  name: string
  input: string
  freeform: boolean
}

function readChunks(chunks: readonly JsonObject[], place: 'message' | 'delta'): Recorded {
  const learned = nothing()
  const calls = new Map<unknown, OpenCall>()
  let refused = false
  for (const chunk of chunks) {
    const choice = objects(chunk['choices']).find(({ index = 0 }) => index === 0)
    const message = choice?.[place]
    if (isObject(message)) {
      readMessage(message, learned, calls)
      refused ||= Boolean(message['refusal'])
    }
    const reason = choice?.['finish_reason']
    if (typeof reason === 'string' && reason !== '') learned.end = ends[reason] ?? 'other'
    const groq = chunk['x_groq']
    const usage = [chunk['usage'], isObject(groq) && groq['usage'], choice?.['usage']].find(isObject)
    if (usage) readUsage(usage, learned)
  }
  if (refused && learned.end === 'stop') learned.end = 'refusal'
  // Some services omit the finish reason.
  if (learned.end === 'other') learned.end = calls.size > 0 ? 'tool-calls' : 'stop'
  learned.calls = [...calls.values()].map(({ id, name, input, freeform }) => ({
    id,
    name,
    input: freeform ? input : parsedInput(input),
  }))
  return learned
}

function readMessage(message: JsonObject, learned: Recorded, calls: Map<unknown, OpenCall>): void {
  const { content, refusal, reasoning_content, reasoning, reasoning_details, audio } = message
  if (typeof content === 'string') learned.text += content
  for (const part of objects(content)) {
    if (typeof part['text'] === 'string') learned.text += part['text']
    for (const thought of objects(part['thinking'])) learned.thought += String(thought['text'] ?? '')
  }
  if (typeof refusal === 'string') learned.text += refusal
  const thought = reasoning_content ?? reasoning
  if (typeof thought === 'string' && thought !== '') learned.thought += thought
  else for (const each of objects(reasoning_details)) learned.thought += String(each['text'] ?? each['summary'] ?? '')
  if (isObject(audio) && typeof audio['transcript'] === 'string') learned.spoken += audio['transcript']
  for (const [at, call] of objects(message['tool_calls']).entries()) {
    const [named = {}] = [call['function'], call['custom']].filter(isObject)
    addCall(calls, call['index'] ?? at, call['id'], named, !isObject(call['function']) && isObject(call['custom']))
  }
  const old = message['function_call']
  if (isObject(old) && (old['name'] || old['arguments'])) addCall(calls, 'function', undefined, old, false)
}

function addCall(calls: Map<unknown, OpenCall>, at: unknown, id: unknown, named: JsonObject, freeform: boolean): void {
  const open = calls.get(at)
  // Some services give every call the number 0 and distinguish calls only by id.
  if (open && typeof id === 'string' && id !== '' && open.id !== undefined && open.id !== id) {
    calls.delete(at)
    calls.set(open, open)
  }
  const call = calls.get(at) ?? { id: undefined, name: '', input: '', freeform }
  calls.set(at, call)
  if (typeof id === 'string' && id !== '') call.id ??= id
  if (typeof named['name'] === 'string' && call.name === '') call.name = named['name']
  const input = named['arguments'] ?? named['input']
  if (input !== undefined && input !== null) call.input += typeof input === 'string' ? input : JSON.stringify(input)
}

function readUsage(usage: JsonObject, learned: Recorded): void {
  const { prompt, completion, cached, reasoning, quota } = expectedCharge(usage)
  learned.usage = { prompt, completion, cached, reasoning }
  learned.quota = quota
}

/** The objects in a list. Empty for anything that is not a list. */
export function objects(value: unknown): JsonObject[] {
  return Array.isArray(value) ? (value as unknown[]).filter(isObject) : []
}
