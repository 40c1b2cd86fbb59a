import type { DialectName } from '../dialects/conversation.ts'
import { requestIdHeader } from '../lib/ids.ts'
import { droppedHeader } from './dropped-names.ts'
import { viaHeader } from './via.ts'
import { withoutKey } from './without-key.ts'

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

/**
 * Headers of every relayed answer: its id, and that pages of other sites may have it. They may call with a token; cookies
 * play no part here (see routes.ts for the preflight).
 */
export function ownHeaders(requestId: string): Record<string, string> {
  return {
    [requestIdHeader]: requestId,
    'access-control-allow-origin': '*',
    'access-control-expose-headers': exposed,
  }
}

/** Headers of a whole answer; the channel's `key` may not be among them. */
export function answerHeaders(headers: Headers, requestId: string, key: string): Record<string, string> {
  const picked = pick(headers, toCaller)
  for (const name in picked) picked[name] = withoutKey(picked[name] ?? '', key)
  return Object.assign(picked, ownHeaders(requestId))
}

/** Headers of a streamed answer; the last one keeps nginx from collecting it. */
export function streamHeaders(headers: Headers, requestId: string, key: string): Record<string, string> {
  const told = answerHeaders(headers, requestId, key)
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
