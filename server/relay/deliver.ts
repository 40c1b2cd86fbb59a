import type { RelayMode } from '../../contract/relay-modes.ts'
import { errorObject } from '../dialects/openai/errors.ts'
import { readReply } from '../dialects/openai/reply.ts'
import { OpenAiStreamMeter } from '../dialects/openai/stream.ts'
import { TypedEventMeter } from '../dialects/openai/typed-stream.ts'
import { GatewayError } from '../errors.ts'
import { isObject, tryParse, tryStringify } from '../lib/json.ts'
import { BinaryStream } from './binary-stream.ts'
import { CallerLeft } from './caller-left.ts'
import { forgetBody } from './check-usage.ts'
import type { RelayDeps } from './deps.ts'
import { badBody, errorWithin, failedAttempt, statusFailure } from './error-answer.ts'
import { answerHeaders, streamHeaders } from './headers.ts'
import type { IdleWait } from './idle-watch.ts'
import { measure } from './measure.ts'
import { AttemptFailed } from './retry-policy.ts'
import { type OpenCall, settle } from './settlement.ts'
import { RelayStream } from './stream.ts'
import { readOpening } from './stream-opening.ts'
import { type ReadLimits, type UpstreamPiece, UpstreamReader } from './upstream-reader.ts'

/** Longest error body read, and how long it is waited for; what is beyond helps nobody. */
const errorBodyBytes = 64 * 1024
const errorBodyMs = 2_000
/** Where the answer of a kind of call stands; an object without it is none. */
const listOf: Partial<Record<RelayMode, string>> = {
  chat: 'choices',
  completions: 'choices',
  embeddings: 'data',
  images: 'data',
  'image-edits': 'data',
  'image-variations': 'data',
}
const jsonType = /^application\/(?:[\w.+-]+\+)?json\b/i
/** Up to this length an answer is read in one go, if it may take this long. */
const shortAnswerBytes = 64 * 1024
const shortAnswerMs = 10_000
/** Longest whole answer kept in memory until it is charged. */
const replyBytes = 256 * 1024 * 1024

/**
 * Turns the upstream's answer into the caller's. Throws AttemptFailed while another channel may still be tried, and
 * CallerLeft; calls `handOver` at the moment when the answer takes over the hold, from where on every ending settles it.
 */
export async function deliver(
  deps: RelayDeps,
  open: OpenCall,
  response: Response,
  askedForUsage: boolean,
  sentAtMs: number,
  handOver: () => void,
): Promise<Response> {
  const { key } = open.channel.upstream
  if (response.status < 200 || response.status > 299)
    throw statusFailure(response, await readErrorAnswer(deps, response), key, deps.clock.nowMs())
  const type = (response.headers.get('content-type') ?? '').toLowerCase()
  // A browser would run what is in a page; an answer is never one.
  const isPage = /html|xml|svg/.test(type)
  const { mode, facts } = open.call
  if (type.startsWith('text/event-stream') && !facts.stream && (mode === 'chat' || mode === 'completions'))
    throw badBody('the upstream streamed although it was not asked to', response.status)
  if (type.startsWith('text/event-stream'))
    return deliverStream(deps, open, response, askedForUsage, sentAtMs, handOver)
  const isSound = mode === 'speech' && !type.includes('json') && !isPage
  if (isSound && response.body) return deliverSound(deps, open, response, sentAtMs, handOver)
  const text = await readWhole(deps, open, response, sentAtMs)
  const isPlainTranscript = (mode === 'transcriptions' || mode === 'translations') && !type.includes('json') && !isPage
  if (isPlainTranscript)
    return settleWhole(deps, open, response, text, { usage: undefined, output: () => text }, handOver, false)
  const body = tryParse(text)
  if (!isObject(body)) throw badBody('the upstream answered with something that is not JSON', response.status)
  const reply = readReply(mode, body)
  if (reply.error) throw errorWithin(reply.error, response.status, key)
  const list = listOf[mode]
  if (list && !Array.isArray(body[list])) throw badBody(`the answer of the upstream has no ${list}`, response.status)
  if (facts.stream && (mode === 'chat' || mode === 'completions'))
    throw badBody('the upstream did not stream', response.status)
  return settleWhole(deps, open, response, text, { usage: reply.usage, output: () => reply.output }, handOver, true)
}

function timeLimits(deps: RelayDeps, open: OpenCall, sentAtMs: number): ReadLimits {
  const settings = deps.settings()
  const relayMs = open.channel.relayTimeoutMs ?? settings.RelayTimeout * 1000
  return {
    idleMs: open.channel.streamIdleTimeoutMs ?? settings.StreamIdleTimeout * 1000,
    keepAliveMs: settings.KeepAliveInterval * 1000,
    deadlineMs: relayMs > 0 ? sentAtMs + relayMs : Number.POSITIVE_INFINITY,
  }
}

function reader(deps: RelayDeps, body: ReadableStream<Uint8Array>, limits: ReadLimits): UpstreamReader {
  return new UpstreamReader(body, deps.idleWatch, deps.clock, limits)
}

/** The error body as far as it comes without trouble; its status alone says enough. */
async function readErrorAnswer(deps: RelayDeps, response: Response): Promise<string> {
  if (!response.body) return ''
  const limits = { idleMs: errorBodyMs, keepAliveMs: 0, deadlineMs: deps.clock.nowMs() + errorBodyMs }
  const { bytes } = await reader(deps, response.body, limits).collect(errorBodyBytes)
  return bytes.toString('utf8')
}

/** The whole answer. Throws AttemptFailed, CallerLeft. */
async function readWhole(deps: RelayDeps, open: OpenCall, response: Response, sentAtMs: number): Promise<string> {
  if (!response.body) return ''
  const limits = { ...timeLimits(deps, open, sentAtMs), keepAliveMs: 0 }
  if (isShort(response) && limits.idleMs >= shortAnswerMs) return readShort(deps, open, response, limits)
  const { bytes, ending } = await reader(deps, response.body, limits).collect(replyBytes)
  if (ending === 'end') return bytes.toString('utf8')
  throw noWholeAnswer(ending, open, response.status)
}

/** A short answer comes with its head or right after it; reading it in one go costs half. */
function isShort(response: Response): boolean {
  const declared = response.headers.get('content-length')
  return declared !== null && Number(declared) <= shortAnswerBytes
}

function readShort(deps: RelayDeps, open: OpenCall, response: Response, limits: ReadLimits): Promise<string> {
  return new Promise((resolve, reject) => {
    const dueAtMs = Math.min(limits.deadlineMs, deps.clock.nowMs() + limits.idleMs)
    const wait: IdleWait = { dueAtMs, due: () => fail('stalled'), place: undefined }
    const fail = (ending: 'stalled' | 'broken') => {
      deps.idleWatch.remove(wait)
      reject(noWholeAnswer(ending, open, response.status))
    }
    deps.idleWatch.add(wait)
    response.text().then(
      (text) => {
        deps.idleWatch.remove(wait)
        resolve(text)
      },
      () => fail('broken'),
    )
  })
}

function noWholeAnswer(ending: UpstreamPiece['kind'] | 'too-long', open: OpenCall, status: number): Error {
  if (open.call.leaving.hasLeft) return new CallerLeft()
  switch (ending) {
    case 'end':
      return badBody('the upstream sent an empty answer', status)
    case 'too-long':
      return badBody('the answer of the upstream is too large', status)
    case 'broken':
      return failedAttempt(new GatewayError('do_request_failed', 'the connection to the upstream broke'), status)
    default:
      return failedAttempt(
        new GatewayError('upstream_timeout', 'the upstream did not finish its answer in time'),
        status,
      )
  }
}

async function settleWhole(
  deps: RelayDeps,
  open: OpenCall,
  response: Response,
  text: string,
  answer: Parameters<typeof measure>[2],
  handOver: () => void,
  isJson: boolean,
): Promise<Response> {
  const firstByteMs = deps.clock.nowMs() - open.call.startedAtMs
  handOver()
  deps.breaker.succeeded(open.channel.id, open.call.facts.model)
  const measured = measure(deps, open, answer)
  const found = measured instanceof Promise ? await measured : measured
  await settle(deps, open, {
    measure: found.measure,
    outcome: 'complete',
    code: '',
    firstByteMs,
    ...(found.note && { note: found.note }),
  })
  open.call.leaving.close()
  const headers = answerHeaders(response.headers)
  // What was read as JSON is sent as JSON, whatever the upstream called it.
  if (isJson && !jsonType.test(headers['content-type'] ?? '')) headers['content-type'] = 'application/json'
  return new Response(text, { status: response.status, headers })
}

async function deliverStream(
  deps: RelayDeps,
  open: OpenCall,
  response: Response,
  askedForUsage: boolean,
  sentAtMs: number,
  handOver: () => void,
): Promise<Response> {
  if (!response.body) throw badBody('the upstream sent an empty stream', response.status)
  const limits = timeLimits(deps, open, sentAtMs)
  const from = reader(deps, response.body, limits)
  const { mode, leaving, facts } = open.call
  const isChat = mode === 'chat' || mode === 'completions'
  const newMeter = () => (isChat ? new OpenAiStreamMeter(facts.choices) : new TypedEventMeter())
  const untilMs = limits.keepAliveMs > 0 ? deps.clock.nowMs() + limits.keepAliveMs : Number.POSITIVE_INFINITY
  leaving.action = () => from.cancel()
  let opening: UpstreamPiece[]
  try {
    opening = await readOpening({
      reader: from,
      newMeter,
      status: response.status,
      leaving,
      untilMs,
      clock: deps.clock,
      key: open.channel.upstream.key,
    })
  } catch (error) {
    from.cancel()
    throw error
  }
  handOver()
  forgetBody(open.call)
  const stream = new RelayStream({
    deps,
    open,
    reader: from,
    meter: newMeter(),
    withholdUsage: askedForUsage,
    opening,
  })
  return new Response(stream as unknown as ReadableStream, { status: 200, headers: streamHeaders(response.headers) })
}

async function deliverSound(
  deps: RelayDeps,
  open: OpenCall,
  response: Response,
  sentAtMs: number,
  handOver: () => void,
): Promise<Response> {
  const limits = { ...timeLimits(deps, open, sentAtMs), keepAliveMs: 0 }
  const from = reader(deps, response.body as ReadableStream<Uint8Array>, limits)
  const first = await from.next()
  if (first.kind !== 'chunk') {
    from.cancel()
    throw noWholeAnswer(first.kind, open, response.status)
  }
  handOver()
  return new Response(new BinaryStream(deps, open, from, first) as unknown as ReadableStream, {
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
  const told = shaped && { ...own, param: null, code: null, ...shaped, message: own.message }
  const body = (told && tryStringify({ error: told })) ?? JSON.stringify({ error: own })
  return new Response(body, { status: known.status, headers })
}
