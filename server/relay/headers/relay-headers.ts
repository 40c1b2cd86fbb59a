import type { DialectName } from '../../dialects/neutral/conversation.ts'
import { requestIdHeader } from '../../lib/secrets/ids.ts'
import { withoutKey } from '../../lib/secrets/without-key.ts'
import { viaHeader } from '../call/via.ts'
import { droppedHeader } from './dropped-header.ts'

/** Headers of the caller that go upstream; everything else (cookies, addresses, client marks) stays here. */
const toUpstream = ['accept', 'openai-beta', viaHeader] as const

/** Headers that only services understand which say so (`forwards` of an endpoint). */
const ofDialect: Readonly<Partial<Record<DialectName, readonly string[]>>> = {
  'anthropic-messages': ['anthropic-version', 'anthropic-beta'],
}

/** Headers of the upstream that reach the caller; no organisation, no cookies, no limits of the operator's account. */
const toCaller = [
  'content-type',
  'content-disposition',
  'x-request-id',
  'openai-processing-ms',
  'openai-version',
  'openai-model',
] as const

/** The caller's headers that may go on. */
export function forwardedHeaders(headers: Headers, dialect: DialectName): Record<string, string> {
  const names = ofDialect[dialect]
  return pick(headers, names ? [...toUpstream, ...names] : toUpstream)
}

/** What a page of another site may read beside the body. */
export const exposedHeaders = [
  requestIdHeader,
  droppedHeader,
  'x-request-id',
  'request-id',
  'retry-after',
  'x-should-retry',
]
const exposed = exposedHeaders.join(', ')

/** A call as its answer names it. */
interface NamedCall {
  requestId: string
  /** What the caller speaks. */
  dialect: DialectName
}

/** Where a caller's program looks for the id of a request. */
export function idHeaderOf(dialect: DialectName): 'request-id' | 'x-request-id' {
  return dialect === 'anthropic-messages' ? 'request-id' : 'x-request-id'
}

/**
 * Headers of every relayed answer: its id, and that pages of other sites may have it. They may call with a token; cookies
 * play no part here (see routes.ts for the preflight).
 */
export function ownHeaders({ requestId, dialect }: NamedCall): Record<string, string> {
  return {
    [requestIdHeader]: requestId,
    [idHeaderOf(dialect)]: requestId,
    'access-control-allow-origin': '*',
    'access-control-expose-headers': exposed,
  }
}

/** What most answers call themselves, in which no key can be. */
const usualTypes: ReadonlySet<string> = new Set([
  'application/json',
  'application/json; charset=utf-8',
  'text/event-stream',
  'text/event-stream; charset=utf-8',
])

/** Headers of a whole answer; the channel's `key` may not be among them. An id that the upstream tells goes before the own. */
export function answerHeaders(headers: Headers, call: NamedCall, key: string): Record<string, string> {
  const told = ownHeaders(call)
  for (const name of toCaller) {
    const value = headers.get(name)
    if (value !== null) told[name] = usualTypes.has(value) ? value : withoutKey(value, key)
  }
  return told
}

/** Headers of a streamed answer; the last one keeps nginx from collecting it. */
export function streamHeaders(headers: Headers, call: NamedCall, key: string): Record<string, string> {
  const told = answerHeaders(headers, call, key)
  told['content-type'] = 'text/event-stream; charset=utf-8'
  told['cache-control'] = 'no-cache'
  told['x-accel-buffering'] = 'no'
  return told
}

function pick(headers: Headers, names: readonly string[]): Record<string, string> {
  const picked: Record<string, string> = {}
  for (const name of names) {
    const value = headers.get(name)
    if (value !== null) picked[name] = value
  }
  return picked
}
