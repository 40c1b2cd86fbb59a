import type { JsonObject } from '../../lib/json.ts'
import { type ChatRequest, chatBased, noChoices } from '../chat-based/chat-based.ts'
import { alternating, plainTurns } from '../chat-based/plain-turns.ts'
import { serviceFailure } from '../failures/service-failure.ts'
import { kindOfStatus, messageOf } from '../neutral/failure.ts'
import { looseList, looseText } from '../neutral/fields.ts'
import type { Failure } from '../neutral/reply.ts'

/**
 * The API of AI Proxy's knowledge bases, as implemented in one-api's code. A request contains one question. The
 * response contains an answer and the documents on which it is based.
 */
export const aiProxyLibrary = chatBased({
  name: 'aiproxy-library',
  request: requestOut,
  reply: (wire) => (typeof wire['answer'] === 'string' ? completion(wire, 'message', wire['answer'], true) : noChoices),
  chunks: () => (event) => [completion(event, 'delta', looseText(event['content']), event['finish'] === true)],
  failureWithin,
  decodeFailure: (status, body) => serviceFailure(status, kindOfStatus(status), messageOf(body, status), ''),
})

/** The service keeps no conversation history, so only the user's last message is sent. */
function requestOut(request: ChatRequest): JsonObject {
  const { system, turns } = plainTurns(request.messages)
  const query = alternating(turns).findLast(({ role }) => role === 'user')?.text ?? system
  return { model: request.model, query, stream: request.stream }
}

function completion(wire: JsonObject, member: 'message' | 'delta', content: string, isEnd: boolean): JsonObject {
  const annotations = looseList(wire['documents']).flatMap(({ title, url }) =>
    looseText(url) ? [{ type: 'url_citation', url_citation: { url, title } }] : [],
  )
  const message = { role: 'assistant', content, ...(annotations.length > 0 && { annotations }) }
  return {
    model: wire['model'],
    choices: [{ index: 0, [member]: message, finish_reason: isEnd ? 'stop' : null }],
  }
}

function failureWithin(wire: JsonObject): Failure | undefined {
  const code = Number(wire['errCode'] ?? 0)
  if (!code && wire['success'] !== false) return undefined
  return serviceFailure(0, code === 401 ? 'authentication' : 'server', looseText(wire['message']), String(code))
}
