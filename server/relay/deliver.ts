import { errorObject, readErrorBody } from '../dialects/openai/errors.ts'
import { readReply } from '../dialects/openai/reply.ts'
import { OpenAiStreamMeter } from '../dialects/openai/stream.ts'
import { TypedEventMeter } from '../dialects/openai/typed-stream.ts'
import { GatewayError } from '../errors.ts'
import { isObject, tryParse } from '../lib/json.ts'
import { sseData } from '../lib/sse.ts'
import { BinaryStream } from './binary-stream.ts'
import type { RelayDeps } from './deps.ts'
import { answerHeaders, streamHeaders } from './headers.ts'
import { measure } from './measure.ts'
import { AttemptFailed, judgeFailure, judgeStatus, retryAfterSeconds } from './retry-policy.ts'
import { type OpenCall, settle } from './settlement.ts'
import { RelayStream } from './stream.ts'
import { UpstreamReader } from './upstream-reader.ts'

/** Longest error body read; what is beyond helps nobody. */
const errorBodyBytes = 64 * 1024
/** Longest whole answer kept in memory until it is charged. */
const replyBytes = 256 * 1024 * 1024

/**
 * Turns the upstream's answer into the caller's. Throws AttemptFailed while another channel may still be tried; calls
 * `handOver` at the moment when the answer takes over the hold, from where on every ending settles it.
 */
export async function deliver(
  deps: RelayDeps,
  open: OpenCall,
  response: Response,
  askedForUsage: boolean,
  sentAtMs: number,
  handOver: () => void,
): Promise<Response> {
  if (response.status < 200 || response.status > 299) throw await statusFailure(deps, response)
  const type = response.headers.get('content-type') ?? ''
  const { mode, facts } = open.call
  if (type.startsWith('text/event-stream')) return deliverStream(deps, open, response, askedForUsage, handOver)
  const isSound = mode === 'speech' && !type.includes('json') && !type.startsWith('text/html')
  if (isSound && response.body) return deliverSound(deps, open, response, handOver)
  const text = await readText(deps, open, response, sentAtMs)
  const isPlainTranscript =
    (mode === 'transcriptions' || mode === 'translations') && !type.includes('json') && !type.startsWith('text/html')
  if (isPlainTranscript)
    return settleWhole(deps, open, response, text, { usage: undefined, output: () => text }, handOver)
  const body = tryParse(text)
  if (!isObject(body)) throw badBody('the upstream answered with something that is not JSON', response.status)
  const reply = readReply(mode, body)
  if (reply.error) throw errorWithin(reply.error, response.status)
  if (facts.stream && (mode === 'chat' || mode === 'completions'))
    throw badBody('the upstream did not stream', response.status)
  return settleWhole(deps, open, response, text, { usage: reply.usage, output: () => reply.output }, handOver)
}

async function statusFailure(deps: RelayDeps, response: Response): Promise<AttemptFailed> {
  const text = await readLimited(response, errorBodyBytes).catch(() => '')
  const { message, shaped } = readErrorBody(text, response.status)
  // A redirect is not followed, and its status means nothing to the caller.
  const status = response.status >= 400 ? response.status : 502
  const wait = retryAfterSeconds(response.headers.get('retry-after'), deps.clock.nowMs())
  const error = new GatewayError('bad_response_status_code', message, {
    status,
    param: String(response.status),
    ...(wait !== undefined && { retryAfterSeconds: Math.ceil(wait) }),
  })
  return new AttemptFailed(error, judgeStatus(response.status, shaped, message), response.status, shaped)
}

function badBody(message: string, status: number): AttemptFailed {
  const error = new GatewayError('bad_response_body', message)
  return new AttemptFailed(error, judgeFailure(error), status)
}

/** An error that came with status 200: its own status when it names one. */
function errorWithin(error: Record<string, unknown>, status: number): AttemptFailed {
  const named = Number(error['status'] ?? error['code'])
  const meant = Number.isInteger(named) && named >= 400 && named <= 599 ? named : 502
  const message =
    typeof error['message'] === 'string' && error['message'] !== ''
      ? error['message']
      : 'the upstream answered with an error'
  const failure = new GatewayError('bad_response_status_code', message, { status: meant, param: String(status) })
  return new AttemptFailed(failure, judgeStatus(meant, error, message), status, error)
}

async function readText(deps: RelayDeps, open: OpenCall, response: Response, sentAtMs: number): Promise<string> {
  const settings = deps.settings()
  const limitMs = open.channel.relayTimeoutMs ?? settings.RelayTimeout * 1000
  const idleMs = open.channel.streamIdleTimeoutMs ?? settings.StreamIdleTimeout * 1000
  // The body of a plain answer normally comes at once with its head; only a slow one needs a watch.
  const limits = [limitMs > 0 ? limitMs - (deps.clock.nowMs() - sentAtMs) : 0, idleMs].filter((ms) => ms > 0)
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<never>((_resolve, reject) => {
    if (limits.length > 0)
      timer = setTimeout(
        () => reject(new GatewayError('upstream_timeout', 'the upstream did not finish its answer in time')),
        Math.min(...limits),
      )
  })
  try {
    return await Promise.race([readLimited(response, replyBytes), late])
  } catch (error) {
    await response.body?.cancel().catch(() => undefined)
    const failure =
      error instanceof GatewayError
        ? error
        : new GatewayError('do_request_failed', 'the connection to the upstream broke', { cause: error })
    throw new AttemptFailed(failure, judgeFailure(failure), response.status)
  } finally {
    clearTimeout(timer)
  }
}

async function readLimited(response: Response, limitBytes: number): Promise<string> {
  const declared = Number(response.headers.get('content-length') ?? 0)
  if (declared > limitBytes) throw new GatewayError('bad_response_body', 'the answer of the upstream is too large')
  return response.text()
}

async function settleWhole(
  deps: RelayDeps,
  open: OpenCall,
  response: Response,
  text: string,
  answer: Parameters<typeof measure>[2],
  handOver: () => void,
): Promise<Response> {
  const firstByteMs = deps.clock.nowMs() - open.call.startedAtMs
  handOver()
  deps.breaker.succeeded(open.channel.id, open.call.facts.model)
  const found = await measure(deps, open, answer)
  await settle(deps, open, {
    measure: found.measure,
    outcome: 'complete',
    code: '',
    firstByteMs,
    ...(found.note && { note: found.note }),
  })
  return new Response(text, { status: response.status, headers: answerHeaders(response.headers) })
}

async function deliverStream(
  deps: RelayDeps,
  open: OpenCall,
  response: Response,
  askedForUsage: boolean,
  handOver: () => void,
): Promise<Response> {
  if (!response.body) throw badBody('the upstream sent an empty stream', response.status)
  const settings = deps.settings()
  const reader = new UpstreamReader(response.body, deps.idleWatch, {
    idleMs: open.channel.streamIdleTimeoutMs ?? settings.StreamIdleTimeout * 1000,
    keepAliveMs: settings.KeepAliveInterval * 1000,
    nowMs: () => deps.clock.nowMs(),
  })
  const first = await reader.next()
  const failure = firstPieceFailure(first, response.status)
  if (failure) {
    reader.cancel()
    throw failure
  }
  handOver()
  const { mode } = open.call
  const meter = mode === 'chat' || mode === 'completions' ? new OpenAiStreamMeter() : new TypedEventMeter()
  const stream = new RelayStream({ deps, open, reader, meter, withholdUsage: askedForUsage, first })
  return new Response(stream as unknown as ReadableStream, { status: 200, headers: streamHeaders(response.headers) })
}

/** A stream that begins with its end, a break or an error has not begun: another channel may do better. */
function firstPieceFailure(
  first: Awaited<ReturnType<UpstreamReader['next']>>,
  status: number,
): AttemptFailed | undefined {
  switch (first.kind) {
    case 'end':
      return badBody('the upstream sent an empty stream', status)
    case 'broken':
      return badBody('the connection to the upstream broke before its answer', status)
    case 'stalled': {
      const error = new GatewayError('upstream_timeout', 'the upstream did not begin its answer in time')
      return new AttemptFailed(error, judgeFailure(error), status)
    }
    case 'chunk': {
      const bytes = Buffer.from(first.bytes.buffer, first.bytes.byteOffset, first.bytes.byteLength)
      if (!bytes.includes('"error"')) return undefined
      const event = tryParse(sseData(bytes.toString('utf8').split(/\r?\n\r?\n/, 1)[0] ?? '') ?? '')
      if (!isObject(event) || event['choices'] !== undefined || !event['error']) return undefined
      return errorWithin(isObject(event['error']) ? event['error'] : { message: String(event['error']) }, status)
    }
    default:
      return undefined
  }
}

function deliverSound(deps: RelayDeps, open: OpenCall, response: Response, handOver: () => void): Response {
  const settings = deps.settings()
  const reader = new UpstreamReader(response.body as ReadableStream<Uint8Array>, deps.idleWatch, {
    idleMs: open.channel.streamIdleTimeoutMs ?? settings.StreamIdleTimeout * 1000,
    keepAliveMs: 0,
    nowMs: () => deps.clock.nowMs(),
  })
  handOver()
  return new Response(new BinaryStream(deps, open, reader) as unknown as ReadableStream, {
    status: 200,
    headers: answerHeaders(response.headers),
  })
}

/** An error answer to the caller, in its dialect. */
export function errorResponse(error: unknown, requestId: string): Response {
  const failure = error instanceof AttemptFailed ? error.error : error
  const known =
    failure instanceof GatewayError
      ? failure
      : new GatewayError('internal_error', 'an internal error occurred', { cause: error })
  const own = errorObject(known, requestId)
  const shaped = error instanceof AttemptFailed ? error.shaped : undefined
  const headers: Record<string, string> = { 'content-type': 'application/json' }
  if (known.retryAfterSeconds !== undefined) headers['retry-after'] = String(known.retryAfterSeconds)
  return new Response(JSON.stringify({ error: shaped ? { ...own, ...shaped, message: own.message } : own }), {
    status: known.status,
    headers,
  })
}
