import type { DialectName } from '../../dialects/neutral/conversation.ts'
import { requestIdHeader } from '../../lib/secrets/ids.ts'
import { withoutKey } from '../../lib/secrets/without-key.ts'
import { viaHeader } from '../call/via.ts'
import { droppedHeader } from './dropped-header.ts'

/**
 * Headers of the caller that are sent upstream. Everything else (cookies, addresses, client names) is not forwarded.
 */
const toUpstream = ['accept', 'openai-beta', viaHeader] as const

/**
 * Headers in which Codex describes its session to OpenAI. They identify the caller's session, so they are sent only to
 * endpoints that ask for them with `forwardsCodex`.
 */
const ofCodex = /^(?:session[-_]id|originator|x-codex-[a-z0-9-]{1,60})$/
const mostOfCodex = 20
const longestOfCodex = 8 * 1024

/** Headers that are sent only to endpoints that list them in `forwards`. */
const ofDialect: Readonly<Partial<Record<DialectName, readonly string[]>>> = {
  'anthropic-messages': ['anthropic-version', 'anthropic-beta'],
}

/**
 * Upstream headers that are passed to the caller. None of them reveals the organisation, cookies or limits of the
 * operator's account.
 */
const toCaller = [
  'content-type',
  'content-disposition',
  'x-request-id',
  'openai-processing-ms',
  'openai-version',
  'openai-model',
] as const

/** The caller's headers that may be forwarded. */
export function forwardedHeaders(headers: Headers, dialect: DialectName): Record<string, string> {
  const names = ofDialect[dialect]
  const picked = pick(headers, names ? [...toUpstream, ...names] : toUpstream)
  return dialect === 'openai-responses' ? { ...picked, ...codexHeaders(headers) } : picked
}

function codexHeaders(headers: Headers): Record<string, string> {
  const own: Record<string, string> = {}
  let left = mostOfCodex
  for (const [name, value] of headers)
    if (isOfCodex(name) && value.length <= longestOfCodex && left-- > 0) own[name] = value
  return own
}

/** True for a header of Codex, by its name in lower case. */
export function isOfCodex(name: string): boolean {
  return ofCodex.test(name)
}

/** The header that names the model that answered a call for a virtual model. */
const modelHeader = 'x-tollgate-model'

/** Headers that a page of another site may read in addition to the body. */
export const exposedHeaders = [
  requestIdHeader,
  droppedHeader,
  modelHeader,
  'x-request-id',
  'request-id',
  'retry-after',
  'x-should-retry',
]
const exposed = exposedHeaders.join(', ')

/** The call data that is sent in the headers of the response. */
interface NamedCall {
  requestId: string
  /** The caller's dialect. */
  dialect: DialectName
  /** The step of the virtual model that answered. */
  step?: { readonly model: string }
}

/** A model name as the value of a header, which may contain ASCII only. */
function modelValue(model: string): string {
  return /^[\x20-\x7e]*$/.test(model) ? model : encodeURIComponent(model.toWellFormed())
}

/** The header in which a client of the dialect looks for the request id. */
export function idHeaderOf(dialect: DialectName): 'request-id' | 'x-request-id' {
  return dialect === 'anthropic-messages' ? 'request-id' : 'x-request-id'
}

/**
 * Headers of every relayed response: the request id, and permission for pages of other sites to read the response. Such
 * pages can send requests only with a token, because the relay does not use cookies. The preflight is in routes.ts.
 */
export function ownHeaders({ requestId, dialect, step }: NamedCall): Record<string, string> {
  return {
    ...(step && { [modelHeader]: modelValue(step.model) }),
    [requestIdHeader]: requestId,
    [idHeaderOf(dialect)]: requestId,
    'access-control-allow-origin': '*',
    'access-control-expose-headers': exposed,
  }
}

/** The content types of most responses. They cannot contain a key, so they need no check. */
const usualTypes: ReadonlySet<string> = new Set([
  'application/json',
  'application/json; charset=utf-8',
  'text/event-stream',
  'text/event-stream; charset=utf-8',
])

/**
 * Headers of a complete response, with the channel's `key` removed. A request id from the upstream takes precedence
 * over the gateway's.
 */
export function answerHeaders(headers: Headers, call: NamedCall, key: string): Record<string, string> {
  const outgoing = ownHeaders(call)
  for (const name of toCaller) {
    const value = headers.get(name)
    if (value !== null) outgoing[name] = usualTypes.has(value) ? value : withoutKey(value, key)
  }
  return outgoing
}

/** Headers of a streamed response. The last header keeps nginx from buffering the response. */
export function streamHeaders(headers: Headers, call: NamedCall, key: string): Record<string, string> {
  const outgoing = answerHeaders(headers, call, key)
  outgoing['content-type'] = 'text/event-stream; charset=utf-8'
  outgoing['cache-control'] = 'no-cache'
  outgoing['x-accel-buffering'] = 'no'
  return outgoing
}

function pick(headers: Headers, names: readonly string[]): Record<string, string> {
  const picked: Record<string, string> = {}
  for (const name of names) {
    const value = headers.get(name)
    if (value !== null) picked[name] = value
  }
  return picked
}
