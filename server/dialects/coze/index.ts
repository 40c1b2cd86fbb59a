import { isObject, type JsonObject, tryParse } from '../../lib/json.ts'
import { type ChatRequest, chatBased, noChoices } from '../chat-based/chat-based.ts'
import { alternating, plainTurns, systemAsTurns, textTurns } from '../chat-based/plain-turns.ts'
import { serviceFailure } from '../failures/service-failure.ts'
import { kindOfStatus, messageOf } from '../neutral/failure.ts'
import { looseCount, looseObject, looseText } from '../neutral/fields.ts'
import type { Failure, FailureKind } from '../neutral/reply.ts'

/**
 * Coze's bots (API reference, "Chat v3"), which respond only with streams. Every event is an object that contains the
 * event's name and data. `collected` combines all events into one response.
 */
export const cozeChat = chatBased({
  name: 'coze',
  request: requestOut,
  reply: (wire) => (typeof wire['content'] === 'string' ? completion(wire, 'message', 'stop') : noChoices),
  chunks: () => chunksOf,
  failureWithin,
  decodeFailure: failureIn,
})

function requestOut(request: ChatRequest): JsonObject {
  const { system, turns } = plainTurns(request.messages)
  const spoken = alternating([...systemAsTurns(system), ...textTurns(turns)])
  return {
    bot_id: request.model.replace(/^bot-/, ''),
    stream: true,
    // The caller sends the whole conversation each time.
    auto_save_history: false,
    additional_messages: spoken.map(({ role, text }) => ({
      role,
      content: text,
      content_type: 'text',
      type: role === 'user' ? 'question' : 'answer',
    })),
  }
}

function chunksOf({ event, data }: JsonObject): JsonObject[] | undefined {
  // The data of the last event and of keep-alives is not an object.
  if (!isObject(data) && data !== '' && event !== 'done') return undefined
  const message = looseObject(data)
  if (event === 'conversation.message.delta' && message['type'] === 'answer')
    return [completion({ ...message, usage: undefined }, 'delta', null)]
  // This event repeats the deltas, but it may also be the only event with content.
  if (event === 'conversation.message.completed' && message['type'] === 'answer')
    return [completion({ ...message, usage: undefined }, 'message', null)]
  if (event === 'conversation.chat.completed')
    return [completion({ chat_id: message['id'], usage: message['usage'] }, 'delta', 'stop')]
  return []
}

function completion(wire: JsonObject, member: 'message' | 'delta', finish: string | null): JsonObject {
  const usage = looseObject(wire['usage'])
  const prompt = looseCount(usage['input_count'])
  const answer = looseCount(usage['output_count'])
  const thought = looseText(wire['reasoning_content'])
  const message = {
    role: 'assistant',
    content: looseText(wire['content']),
    ...(thought && { reasoning_content: thought }),
  }
  return {
    id: looseText(wire['chat_id']),
    choices: [{ index: 0, [member]: message, finish_reason: finish }],
    ...(prompt + answer > 0 && {
      usage: { prompt_tokens: prompt, completion_tokens: answer, total_tokens: prompt + answer },
    }),
  }
}

/**
 * Combines all events of a stream into one response. A failure within the stream becomes the failure of the response.
 */
export function collected(messages: readonly string[]): JsonObject {
  const answer = { chat_id: '', content: '', reasoning_content: '' }
  const whole = { ...answer }
  let end: JsonObject | undefined
  for (const message of messages) {
    const wire = looseObject(tryParse(message))
    if (failureWithin(wire)) return wire
    const data = looseObject(wire['data'])
    const kind = data['type'] === 'answer' ? contentEvents[looseText(wire['event'])] : undefined
    if (kind) {
      const to = kind === 'delta' ? answer : whole
      to.content += looseText(data['content'])
      to.reasoning_content += looseText(data['reasoning_content'])
    }
    if (wire['event'] === 'conversation.chat.completed') end = data
  }
  if (!end) return { event: 'error', data: { code: 0, msg: 'the upstream ended its response before it was complete' } }
  const longest = whole.content.length > answer.content.length ? whole : answer
  return { ...longest, chat_id: looseText(end['id']), usage: end['usage'] }
}

/** Events that hold content of the answer: either a piece of it (`delta`) or all of it (`whole`). */
const contentEvents: Readonly<Record<string, 'delta' | 'whole'>> = {
  'conversation.message.delta': 'delta',
  'conversation.message.completed': 'whole',
}

/** Coze's codes (API reference, "Error codes") that are more specific than the HTTP status of the response. */
const kinds: Readonly<Record<number, FailureKind>> = {
  4000: 'invalid',
  4001: 'invalid',
  4002: 'invalid',
  4003: 'invalid',
  4004: 'invalid',
  4005: 'invalid',
  4006: 'not-found',
  4008: 'rate-limit',
  4009: 'rate-limit',
  4010: 'invalid',
  4011: 'billing',
  4012: 'not-found',
  4013: 'overloaded',
  4014: 'invalid',
  4015: 'not-found',
  4019: 'billing',
  4020: 'rate-limit',
  4022: 'billing',
  4100: 'authentication',
  4101: 'permission',
  4102: 'permission',
  4105: 'invalid',
  4200: 'not-found',
  5000: 'server',
  700012006: 'authentication',
}

function failureWithin(wire: JsonObject): Failure | undefined {
  const { event } = wire
  const data = looseObject(wire['data'])
  if (event === 'error') return failureIn(0, data)
  if (event === 'conversation.chat.failed') return failureIn(0, data['last_error'])
  if (event === 'conversation.chat.requires_action')
    return serviceFailure(0, 'invalid', 'the bot calls a tool of its user, which the gateway cannot forward', '')
  const { code } = wire
  return event === undefined && typeof code === 'number' && code !== 0 ? failureIn(0, wire) : undefined
}

function failureIn(status: number, body: unknown): Failure {
  const code = isObject(body) && typeof body['code'] === 'number' ? body['code'] : undefined
  const kind = (code === undefined ? undefined : kinds[code]) ?? kindOfStatus(status || 502)
  return serviceFailure(status, kind, messageOf(body, status), code === undefined ? '' : String(code))
}
