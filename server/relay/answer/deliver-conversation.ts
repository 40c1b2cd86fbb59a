import { DecodingMeter } from '../../dialects/metering/decoding-meter.ts'
import { countingDecoder, countingMeter } from '../../dialects/metering/tool-counts.ts'
import type { StreamEncoder, UpstreamDialect } from '../../dialects/neutral/dialect.ts'
import { replyEvents } from '../../dialects/neutral/events-of-reply.ts'
import type { Reply } from '../../dialects/neutral/reply.ts'
import { isEventStream } from '../../lib/bytes/sse.ts'
import { isObject, type JsonObject, stringify, tryParse } from '../../lib/json.ts'
import { beginStreamed, beginWhole } from '../background/begin-job.ts'
import type { RelayCall } from '../call/call.ts'
import type { RelayDeps } from '../call/deps.ts'
import { keeperOf, keepingEncoder } from '../call/item-store.ts'
import { isThreaded } from '../call/thread-calls.ts'
import { forgetBody } from '../charging/check-usage.ts'
import { mediaOf, outputOf } from '../charging/reply-output.ts'
import { type Answering, type OpenCall, takeOver } from '../charging/settlement.ts'
import { leavesRefusals, type Stopped } from '../failures/refused-answer.ts'
import { badBody, failureInAnswer, failureWithin, madeOf, noAnswer, unread } from '../failures/upstream-failure.ts'
import { droppedHeader, droppedNames } from '../headers/dropped-header.ts'
import { streamHeaders } from '../headers/relay-headers.ts'
import { rescueFor } from '../rescue/rescue.ts'
import { holdBack, isHeldBack, type Opened } from '../stream/hold-back.ts'
import { RelayStream } from '../stream/relay-stream.ts'
import { openStream } from '../stream/stream-opening.ts'
import { endOf, TranslatingReader } from '../stream/translating-reader.ts'
import { WholeReader } from '../stream/whole-reader.ts'
import type { Codec } from '../upstream/prepare.ts'
import { readWhole } from '../upstream/read-answer.ts'
import { refuseRefusal } from './refuse-refusal.ts'
import { settleWhole, type WholeAnswer } from './settle-whole.ts'

/**
 * Translates the response to a conversation into the caller's dialect. It is used if the caller or the upstream uses a
 * dialect other than OpenAI chat. AttemptFailed and CallerLeft are thrown only before the hold is handed over to the
 * response.
 */
export async function deliverConversation(answering: Answering, codec: Codec): Promise<Response> {
  const { open, response } = answering
  const isStream = isEventStream(response.headers)
  const { stream } = open.call.facts
  if (isStream && !stream) throw await unread(response, 'the upstream streamed although streaming was not requested')
  if (stream && !isStream && !codec.to) throw await unread(response, 'the upstream did not stream')
  const deliver = isStream ? (open.call.inBackground ? deliverBackground : deliverEvents) : deliverWhole
  return deliver(answering, codec).then((answer) => withOwnHeaders(answer, open, codec))
}

function withOwnHeaders(answer: Response, { call }: OpenCall, { dropped }: Codec): Response {
  if (dropped.length > 0) answer.headers.set(droppedHeader, droppedNames(dropped))
  if (call.dialect === 'anthropic-messages') answer.headers.set('request-id', call.requestId)
  return answer
}

async function deliverWhole(answering: Answering, codec: Codec): Promise<Response> {
  const { open, response } = answering
  const { from } = codec
  const text = await readWhole(answering)
  const body = tryParse(text)
  if (!isObject(body)) throw badBody("the upstream's response is not JSON", response.status)
  const { status } = response
  const failure = madeOf(() => failureInAnswer(from, body), status)
  if (failure) throw failureWithin(failure, status, open.channel.upstream.key)
  const begun = open.call.inBackground && (await beginWhole(answering, body, text))
  if (begun) return begun
  const reply = madeOf(() => from.decodeReply(body, open.call.requestId), status)
  if (reply.choices.length === 0) throw noAnswer(body, response.status, open.channel.upstream.key)
  const output = () => (from.billsPromptAlone ? '' : outputOf(reply))
  const measured = { usage: undefined, reported: reply.usage, output, media: mediaOf(reply) }
  const settled = { reply, body, text, measured }
  if (leavesRefusals(open.call))
    refuseRefusal(
      answering,
      () => stopsOf(reply),
      measured,
      () => settleReply(answering, codec, settled).then((answer) => withOwnHeaders(answer, open, codec)),
    )
  return settleReply(answering, codec, settled)
}

interface Replied {
  reply: Reply
  body: JsonObject
  text: string
  measured: Omit<WholeAnswer, 'text' | 'isJson'>
}

/** Charges for a complete reply, and returns it in the caller's dialect. */
function settleReply(answering: Answering, codec: Codec, { reply, body, text, measured }: Replied): Promise<Response> {
  const { deps, open, response } = answering
  const { from, to } = codec
  const { status } = response
  open.tools?.take(body)
  noterOf(deps, open, codec)?.(reply.id)
  if (!to) return settleWhole(answering, { text, isJson: true, ...measured })
  if (!open.call.facts.stream) {
    const answer = madeOf(() => to.dialect.encodeReply(reply, to.frame), status)
    const answerText = madeOf(() => stringify(answer), status)
    keeperOf(deps.itemStore, open.call)?.(answer)
    return settleWhole(answering, { text: answerText, isJson: true, ...measured })
  }
  const encoder = encoderFor(deps, open, to)
  const events = replyEvents(from.billsPromptAlone ? silent(reply) : reply)
  const before = replyEvents(reply).filter(({ type }) => type !== 'end')
  const eventText = madeOf(() => before.map((event) => encoder.push(event)), status).join('')
  takeOver(answering)
  forgetBody(open.call)
  const reader = new WholeReader(events, eventText, endOf(encoder))
  return streamed(response, { deps, open, reader, meter: reader.meter, withholdUsage: false, opening: [] })
}

/** How each choice ended, and whether it has any content besides a refusal. */
function stopsOf({ choices }: Reply): Stopped[] {
  return choices.map(({ parts, stop }) => ({
    reason: stop.reason,
    isEmpty: parts.every((part) => part.type === 'refusal' || part.type === 'reasoning' || isBlank(part)),
  }))
}

function isBlank(part: Reply['choices'][number]['parts'][number]): boolean {
  return part.type === 'text' && part.text.trim() === ''
}

/**
 * The reply without its content. It is used for services that charge only for the prompt, so that nothing in the reply
 * is charged.
 */
function silent(reply: Reply): Reply {
  return { ...reply, choices: reply.choices.map((choice) => ({ ...choice, parts: [] })) }
}

async function streamed(response: Response, options: ConstructorParameters<typeof RelayStream>[0]): Promise<Response> {
  const stream = new RelayStream(options)
  return new Response(await stream.body(), {
    status: 200,
    headers: streamHeaders(response.headers, options.open.call, options.open.channel.upstream.key),
  })
}

function encoderFor(deps: RelayDeps, { call }: OpenCall, to: NonNullable<Codec['to']>): StreamEncoder {
  const encoder = to.dialect.streamEncoder(to.frame)
  const keep = keeperOf(deps.itemStore, call)
  return keep ? keepingEncoder(encoder, keep) : encoder
}

/**
 * Returns a function that stores which channel sent a response, because only that channel can continue from the
 * response.
 */
function noterOf(
  { threads, responseOwners }: RelayDeps,
  { call, channel, upstreamModel }: OpenCall,
  { to }: Codec,
): NoteAnswer | undefined {
  if (call.dialect === 'openai-responses' && !to && isStored(call))
    return (id) => {
      if (id !== undefined) responseOwners.note(call.caller.userId, id, channel, upstreamModel)
    }
  if (!isThreaded(call)) return undefined
  const keeper = { channelId: channel.id, key: channel.upstream.key }
  return (id) => {
    if (id !== undefined) threads.note(call.caller.tokenId, id, keeper)
  }
}

/** True if the service will store the response to this call. */
function isStored({ compacts, state: { body } }: RelayCall): boolean {
  return compacts !== 'call' && body.kind === 'json' && body.json['store'] !== false
}

type NoteAnswer = (id: string | undefined) => void

/** Wraps a dialect so that the id of each streamed response is reported to `note`. */
function notingDialect(dialect: UpstreamDialect, note: NoteAnswer): UpstreamDialect {
  return {
    ...dialect,
    streamDecoder(idSeed) {
      const decoder = dialect.streamDecoder(idSeed)
      return {
        push(data) {
          const events = decoder.push(data)
          for (const event of events) if (event.type === 'start') note(event.id)
          return events
        },
        finish: () => decoder.finish(),
        failedEnd: (failure, requestId) => decoder.failedEnd?.(failure, requestId) ?? '',
      }
    },
  }
}

/**
 * Delivers the stream of a background response. A background job owns the hold, so the caller may disconnect from the
 * stream at any time.
 */
async function deliverBackground(sent: Answering, codec: Codec): Promise<Response> {
  const answering = await beginStreamed(sent)
  return answering instanceof Response ? answering : deliverEvents(answering, codec)
}

async function deliverEvents(answering: Answering, codec: Codec): Promise<Response> {
  const { deps, open } = answering
  const { from } = codec
  const { requestId } = open.call
  const note = noterOf(deps, open, codec)
  const noting = note ? notingDialect(from, note) : from
  const opened = await openStream(answering, () => new DecodingMeter(noting, requestId))
  if (!isHeldBack(open.call)) return passEvents(answering, codec, noting, opened)
  const held = await holdBack(answering, opened, from.streamDecoder(requestId), (begun) =>
    passEvents(answering, codec, noting, begun).then((answer) => withOwnHeaders(answer, open, codec)),
  )
  return passEvents(answering, codec, noting, held)
}

/**
 * Passes on a stream that has begun, translated into the caller's dialect. `noting` is the upstream's dialect, wrapped
 * so that the id of the response is stored if necessary.
 */
function passEvents(
  answering: Answering,
  { from, to }: Codec,
  noting: UpstreamDialect,
  { reader, opening }: Opened,
): Promise<Response> {
  const { deps, open, response } = answering
  const { requestId } = open.call
  takeOver(answering)
  const encoder = to && encoderFor(deps, open, to)
  const rescuer = rescueFor(deps, open.call)
  forgetBody(open.call)
  const options = { deps, open, withholdUsage: false, rescuer }
  if (!encoder) {
    const own = new DecodingMeter(rescuer?.watched(noting) ?? noting, requestId)
    return streamed(response, { ...options, reader, meter: countingMeter(own, open.tools), opening })
  }
  const decoder = countingDecoder(from.streamDecoder(requestId), open.tools)
  const translating = new TranslatingReader(reader, decoder, rescuer?.encoder(encoder) ?? encoder, opening)
  return streamed(response, { ...options, reader: translating, meter: translating.meter, opening: [] })
}
