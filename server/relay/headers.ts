import type { DialectName } from '../dialects/conversation.ts'

/** Headers of the caller that go upstream; everything else (cookies, addresses, client marks) stays here. */
const toUpstream = ['accept', 'openai-beta'] as const

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

/** Headers of a whole answer. */
export function answerHeaders(headers: Headers): Record<string, string> {
  return pick(headers, toCaller)
}

/** Headers of a streamed answer; the last one keeps nginx from collecting it. */
export function streamHeaders(headers: Headers): Record<string, string> {
  return {
    ...pick(headers, toCaller),
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-cache',
    'x-accel-buffering': 'no',
  }
}

function pick(headers: Headers, names: readonly string[]): Record<string, string> {
  const picked: Record<string, string> = {}
  for (const name of names) {
    const value = headers.get(name)
    if (value !== null) picked[name] = value
  }
  return picked
}
