import type { DialectName } from '../../dialects/neutral/conversation.ts'

/**
 * The token that a request carries, as clients of its dialect send it: OpenAI's in `Authorization`, Anthropic's in
 * `x-api-key`, Google's in `x-goog-api-key` or `?key=`, and browsers that open a WebSocket among its subprotocols. A
 * bearer token is accepted everywhere.
 */
export function credentialOf(request: Request, dialect: DialectName): string | null {
  const { headers } = request
  const bearer = headers.get('authorization')
  if (dialect === 'openai-chat' || dialect === 'openai-responses') return bearer ?? keyInProtocol(headers)
  if (dialect === 'anthropic-messages') return headers.get('x-api-key') ?? bearer
  const query = request.url.indexOf('?')
  const inAddress = query < 0 ? null : new URLSearchParams(request.url.slice(query)).get('key')
  return headers.get('x-goog-api-key') ?? inAddress ?? bearer
}

/** The dialect of a client at an address that several services share, by how it sends its key. */
export function readerDialect({ headers, url }: Request): 'openai-chat' | 'anthropic-messages' | 'gemini' {
  if (headers.has('anthropic-version')) return 'anthropic-messages'
  if (headers.has('authorization')) return 'openai-chat'
  if (headers.has('x-goog-api-key') || /[?&]key=/.test(url)) return 'gemini'
  return headers.has('x-api-key') ? 'anthropic-messages' : 'openai-chat'
}

/** A browser cannot set headers when it opens a WebSocket (OpenAI, "Realtime API with WebSockets"). */
function keyInProtocol(headers: Headers): string | null {
  const key = protocolsOf(headers).find((each) => each.startsWith(keyProtocol))
  return key === undefined ? null : `Bearer ${key.slice(keyProtocol.length)}`
}

const keyProtocol = 'openai-insecure-api-key.'

/** The subprotocols that a caller offers for a WebSocket. */
export function protocolsOf(headers: Headers): string[] {
  return (headers.get('sec-websocket-protocol') ?? '').split(',').map((each) => each.trim())
}
