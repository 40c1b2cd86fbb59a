import { isObject, type JsonObject } from '../../lib/json.ts'
import { type ChatRequest, chatBased } from '../chat-based/chat-based.ts'
import { alternating, plainTurns, textTurns } from '../chat-based/plain-turns.ts'
import { serviceFailure } from '../failures/service-failure.ts'
import { kindOfStatus, messageOf } from '../neutral/failure.ts'
import { looseList, looseObject, looseText } from '../neutral/fields.ts'
import type { Failure } from '../neutral/reply.ts'

/** Google's PaLM 2 (PaLM API reference, "generateMessage"), which supports neither token counts nor streaming. */
export const palm = chatBased({
  name: 'palm',
  request: requestOut,
  reply: (wire) => completion(wire, 'message'),
  chunks: () => (wire) => [completion(wire, 'delta')],
  failureWithin,
  decodeFailure: failureIn,
})

function requestOut(request: ChatRequest): JsonObject {
  const { system, turns } = plainTurns(request.messages)
  const spoken = alternating(textTurns(turns.length > 0 ? turns : [{ role: 'user', text: system }]))
  return {
    prompt: {
      ...(system !== '' && turns.length > 0 && { context: system }),
      messages: spoken.map(({ role, text }) => ({ author: role === 'user' ? '0' : '1', content: text })),
    },
    temperature: request.takeWithin('temperature', 0, 1),
    candidateCount: request.takeWithin('n', 1, 8),
    topP: request.takeNumber('top_p'),
    topK: request.takeNumber('top_k'),
  }
}

function completion(wire: JsonObject, member: 'message' | 'delta'): JsonObject {
  const candidates = looseList(wire['candidates'])
  const choices = candidates.map((candidate, index) => ({
    index,
    [member]: { role: 'assistant', content: looseText(candidate['content']) },
    finish_reason: 'stop',
  }))
  // When Google's filters remove an answer, the response contains only the filters' reasons.
  const filtered = { index: 0, [member]: { role: 'assistant', content: '' }, finish_reason: 'content_filter' }
  return { choices: choices.length > 0 ? choices : [filtered] }
}

function failureWithin(wire: JsonObject): Failure | undefined {
  if (isObject(wire['error'])) return failureIn(Number(wire['error']['code']) || 500, wire)
  const isEmpty = looseList(wire['candidates']).length === 0 && looseList(wire['filters']).length === 0
  return isEmpty ? serviceFailure(0, 'server', 'the upstream returned no candidate', '') : undefined
}

function failureIn(status: number, body: unknown): Failure {
  const code = looseText(looseObject(looseObject(body)['error'])['status'])
  // Google reports an unknown key as an invalid argument.
  const isKey = /API_KEY_INVALID|API key not valid/.test(JSON.stringify(body) ?? '')
  return serviceFailure(status, isKey ? 'authentication' : kindOfStatus(status), messageOf(body, status), code)
}
