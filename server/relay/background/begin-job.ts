import { GatewayError } from '../../errors.ts'
import { isEventStream, SseSplitter } from '../../lib/bytes/sse.ts'
import { isObject, type JsonObject, tryParse } from '../../lib/json.ts'
import { noteAttempt } from '../call/attempts.ts'
import { isStoredId } from '../call/response-owners.ts'
import { forgetBody } from '../charging/check-usage.ts'
import type { Answering } from '../charging/settlement.ts'
import { noteHealth } from '../failures/note-health.ts'
import { badBody } from '../failures/upstream-failure.ts'
import { answerHeaders, streamHeaders } from '../headers/relay-headers.ts'
import { noWholeAnswer, readerOf } from '../upstream/read-answer.ts'
import { timeLimits } from '../upstream/time-limits.ts'
import type { UpstreamReader } from '../upstream/upstream-reader.ts'
import { askStoring } from './ask-storing.ts'
import { isUnderWay } from './end-job.ts'
import { JobStream } from './job-stream.ts'
import { storedCallOf } from './stored-job.ts'

const minuteSeconds = 60
const cancelMs = 10_000
/** The maximum number of bytes that are read to find the first event of a stream. First events are always shorter. */
const openingBytes = 1024 * 1024

/**
 * Answers a call whose response the service is generating in the background. Stores a job, which takes over the call's
 * hold until the response is complete. Undefined if the response is already complete. Throws AttemptFailed. If the job
 * cannot be stored, asks the service to cancel the response and throws GatewayError.
 */
export async function beginWhole(answering: Answering, body: JsonObject, text: string): Promise<Response | undefined> {
  const { open, response } = answering
  if (!isUnderWay(body)) return undefined
  await begin(answering, body)
  open.call.leaving.answered(text.length)
  const headers = answerHeaders(response.headers, open.call, open.channel.upstream.key)
  return new Response(text, { status: response.status, headers: { ...headers, 'content-type': 'application/json' } })
}

/**
 * Does the work of `beginWhole` if the response is streamed. The caller may disconnect from the stream at any time. If
 * the service does not generate the response in the background, returns the stream unchanged.
 */
export async function beginStreamed(answering: Answering): Promise<Response | Answering> {
  const { deps, open, response, sentAtMs } = answering
  if (!response.body || !isEventStream(response.headers)) return answering
  const limits = { ...timeLimits(deps, open, sentAtMs), keepAliveMs: 0 }
  const reader = readerOf(deps, response.body, limits)
  const opening = await openingOf(reader, answering)
  const { first } = opening
  if (first?.['background'] !== true || !isUnderWay(first)) {
    reader.relax({ idleMs: 0, keepAliveMs: 0, deadlineMs: Number.POSITIVE_INFINITY })
    const { status, headers } = response
    return { ...answering, response: new Response(unreadStream(opening.chunks, reader), { status, headers }) }
  }
  try {
    await begin(answering, first)
  } catch (error) {
    reader.cancel()
    throw error
  }
  const { userId } = open.call.caller
  const stream = new JobStream({
    deps,
    reader,
    userId,
    opening: opening.chunks,
    ended: () => open.call.leaving.answered(),
  })
  const headers = streamHeaders(response.headers, open.call, open.channel.upstream.key)
  return new Response(stream.body(), { status: 200, headers })
}

async function begin(answering: Answering, { id }: JsonObject): Promise<void> {
  const { deps, open, response, sentAtMs } = answering
  const { call, channel, hold, upstreamModel } = open
  if (typeof id !== 'string' || !isStoredId(id))
    throw badBody("the upstream's response in the background has no id", response.status)
  noteAttempt(deps, open, { sentAtMs, status: response.status })
  forgetBody(call)
  await hold.stored()
  const isBegun = await deps.backgroundJobs
    .begin({
      holdId: hold.id,
      owned: deps.responseOwners.rowOf(call.caller.userId, id, channel, upstreamModel),
      call: storedCallOf(deps, open),
      limitSeconds: deps.settings().BackgroundTimeLimit * minuteSeconds,
    })
    .catch((cause: unknown) => cause as Error)
  if (isBegun !== true) {
    call.state.attempts.pop()
    const question = { channel, model: upstreamModel, method: 'POST', path: `/responses/${id}/cancel` }
    await askStoring(deps, question, cancelMs).catch(() => undefined)
    throw new GatewayError('database_unavailable', 'the background response could not be stored; try again', {
      cause: isBegun,
    })
  }
  hold.leaveToJob()
  noteHealth(deps, open, 'well')
  call.leaving.close()
}

/** The beginning of a stream: the chunks that have been read, and the response object in the first event. */
interface Opening {
  chunks: Uint8Array[]
  first: JsonObject | undefined
}

async function openingOf(reader: UpstreamReader, { open, response }: Answering): Promise<Opening> {
  const splitter = new SseSplitter(openingBytes, openingBytes)
  const chunks: Uint8Array[] = []
  for (let length = 0; length < openingBytes; ) {
    const piece = await reader.next()
    if (piece.kind === 'quiet') continue
    if (piece.kind === 'end') break
    if (piece.kind !== 'chunk') {
      reader.cancel()
      throw noWholeAnswer(piece.kind, open, response.status)
    }
    const bytes = piece.bytes.slice()
    chunks.push(bytes)
    length += bytes.length
    for (const { data } of splitter.push(bytes).events) {
      const event = data === undefined ? undefined : tryParse(data)
      if (!isObject(event)) continue
      return { chunks, first: isObject(event['response']) ? event['response'] : undefined }
    }
  }
  return { chunks, first: undefined }
}

/** A stream that repeats the chunks that have already been read, and then continues with the rest. */
function unreadStream(chunks: Uint8Array[], reader: UpstreamReader): ReadableStream<Uint8Array> {
  return new ReadableStream({
    async pull(controller) {
      const piece = chunks.length > 0 ? undefined : await reader.next()
      const bytes = piece ? piece.kind === 'chunk' && piece.bytes.slice() : chunks.shift()
      if (bytes) controller.enqueue(bytes)
      else if (piece?.kind === 'end') controller.close()
      else controller.error(new Error('the stream of the upstream broke off'))
    },
    cancel: () => reader.cancel(),
  })
}
