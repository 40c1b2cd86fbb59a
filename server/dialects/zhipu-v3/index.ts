import { type JsonObject, tryParse } from '../../lib/json.ts'
import { type ChatRequest, chatBased } from '../chat-based/chat-based.ts'
import { alternating, plainTurns, systemAsTurns, textTurns } from '../chat-based/plain-turns.ts'
import { zhipuFailure } from '../failures/zhipu-failure.ts'
import { looseList, looseObject, looseText } from '../neutral/fields.ts'
import type { Failure } from '../neutral/reply.ts'

/**
 * Version 3 of Zhipu's API, which chatglm models use (source: one-api's code; the service's own page no longer exists).
 * In its streams, the name and the text of an event are in separate SSE fields. `eventIn` puts both into one object.
 */
export const zhipuV3 = chatBased({
  name: 'zhipu-v3',
  request: requestOut,
  reply: replyIn,
  chunks: () => (event) => [chunkIn(event)],
  failureWithin,
  decodeFailure: zhipuFailure,
})

function requestOut(request: ChatRequest): JsonObject {
  const { system, turns } = plainTurns(request.messages)
  const spoken = alternating([...systemAsTurns(system), ...textTurns(turns)])
  return {
    prompt: (turns.length === 0 ? spoken.slice(0, 1) : spoken).map(({ role, text }) => ({ role, content: text })),
    temperature: request.takeWithin('temperature', 0.01, 0.99),
    top_p: request.takeWithin('top_p', 0.01, 0.99),
    ...(request.stream && { incremental: true }),
  }
}

function replyIn(wire: JsonObject): JsonObject {
  const data = looseObject(wire['data'])
  const choices = looseList(data['choices']).map((choice, index) => ({
    index,
    message: { role: 'assistant', content: unquoted(looseText(choice['content'])) },
    finish_reason: 'stop',
  }))
  return { id: data['request_id'] ?? data['task_id'], choices, usage: data['usage'] }
}

/** Decodes the text of an answer, which is itself encoded as a JSON string. */
function unquoted(content: string): string {
  const inner = content.startsWith('"') ? tryParse(content) : undefined
  return typeof inner === 'string' ? inner : content.replace(/^"([\s\S]*)"$/, '$1')
}

function chunkIn({ event, data, meta }: JsonObject): JsonObject {
  const isEnd = event === 'finish' || event === 'interrupted'
  const metadata = looseObject(tryParse(looseText(meta)))
  return {
    id: metadata['request_id'],
    choices: [
      {
        index: 0,
        delta: { role: 'assistant', content: looseText(data) },
        finish_reason: isEnd ? (event === 'finish' ? 'stop' : 'content_filter') : null,
      },
    ],
    usage: metadata['usage'],
  }
}

function failureWithin(wire: JsonObject): Failure | undefined {
  if (wire['event'] === 'error') return zhipuFailure(0, tryParse(looseText(wire['data'])) ?? { msg: wire['data'] })
  return wire['success'] === false ? zhipuFailure(0, wire) : undefined
}

/**
 * One event of the stream as an object. It includes the kind and the usage, which the service sends outside the event's
 * data. Undefined if the block contains no event.
 */
export function eventIn(block: string): JsonObject | undefined {
  const fields = new Map<string, string>()
  for (const line of block.split(/\r\n|\n|\r/)) {
    const [, name, value = ''] = /^(event|data|meta): ?(.*)$/.exec(line) ?? []
    if (!name) continue
    const before = fields.get(name)
    fields.set(name, before === undefined ? value : `${before}\n${value}`)
  }
  return fields.has('event') || fields.has('data') ? Object.fromEntries(fields) : undefined
}
