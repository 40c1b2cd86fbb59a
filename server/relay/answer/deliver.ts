import type { RelayMode } from '../../../contract/relay-modes.ts'
import { SoundResponse } from '../../dialects/gemini/speech.ts'
import { countingMeter } from '../../dialects/metering/tool-counts.ts'
import type { StreamMeter } from '../../dialects/neutral/dialect.ts'
import { looseObject } from '../../dialects/neutral/fields.ts'
import { openaiChat } from '../../dialects/openai-chat/index.ts'
import { readReply } from '../../dialects/openai-passthrough/reply.ts'
import { OpenAiStreamMeter } from '../../dialects/openai-passthrough/stream.ts'
import { readSubtitles } from '../../dialects/openai-passthrough/subtitles.ts'
import { TypedEventMeter } from '../../dialects/openai-passthrough/typed-stream.ts'
import { repairCalls } from '../../dialects/wire/call-matcher.ts'
import { type Clock, epochSeconds } from '../../lib/clock.ts'
import { isObject, type JsonObject, tryParse } from '../../lib/json.ts'
import type { RelayCall } from '../call/call.ts'
import type { RelayDeps } from '../call/deps.ts'
import { forgetBody } from '../charging/check-usage.ts'
import { imagesRequested } from '../charging/image-charging.ts'
import { type Answering, type OpenCall, takeOver } from '../charging/settlement.ts'
import { leavesRefusals } from '../failures/refused-answer.ts'
import { badBody, errorWithin, madeOf, statusFailure, unread } from '../failures/upstream-failure.ts'
import { droppedHeader, droppedNames } from '../headers/dropped-header.ts'
import { answerHeaders, streamHeaders } from '../headers/relay-headers.ts'
import { rescueFor } from '../rescue/rescue.ts'
import { BinaryStream } from '../stream/binary-stream.ts'
import { holdBack, isHeldBack, type Opened, openAiDecoder } from '../stream/hold-back.ts'
import { RelayStream } from '../stream/relay-stream.ts'
import { openStream } from '../stream/stream-opening.ts'
import { type Codec, leftOutOf, type Prepared } from '../upstream/prepare.ts'
import { noWholeAnswer, readErrorAnswer, readerOf, readWhole } from '../upstream/read-answer.ts'
import { timeLimits } from '../upstream/time-limits.ts'
import { deliverConversation } from './deliver-conversation.ts'
import { refuseRefusal, stopsIn } from './refuse-refusal.ts'
import { settleWhole } from './settle-whole.ts'

/**
 * For each kind of call, the field of the response that contains the result. An object without this field is not a
 * valid response.
 */
const listOf: Partial<Record<RelayMode, string>> = {
  chat: 'choices',
  completions: 'choices',
  embeddings: 'data',
  moderations: 'results',
  rerank: 'results',
  images: 'data',
  'image-edits': 'data',
  'image-variations': 'data',
}

/**
 * Turns the upstream's response into the response for the caller. Throws AttemptFailed if the response cannot be used
 * and another channel can be tried, and CallerLeft if the caller has disconnected. The hold is handed over to the
 * response only when it is certain that the hold will be settled, however the response ends.
 */
export function deliver(answering: Answering, prepared: Prepared): Promise<Response> {
  const { status } = answering.response
  const { codec } = prepared
  if (status < 200 || status > 299) return refused(answering, codec)
  if (status === 204 || status === 205) return unusable(answering, 'the upstream sent an empty response')
  if (codec) return deliverConversation(answering, codec)
  return namingDropped(deliverOpenAi(answering, prepared), prepared)
}

function namingDropped(delivering: Promise<Response>, prepared: Prepared): Promise<Response> {
  const leftOut = leftOutOf(prepared)
  if (leftOut.length === 0) return delivering
  return delivering.then((answer) => {
    answer.headers.set(droppedHeader, droppedNames(leftOut))
    return answer
  })
}

async function refused({ deps, open, response }: Answering, codec: Codec | undefined): Promise<never> {
  const text = await readErrorAnswer(deps, response)
  throw statusFailure(response, text, open.channel.upstream.key, deps.clock.nowMs(), codec?.from)
}

async function unusable({ response }: Answering, why: string): Promise<never> {
  throw await unread(response, why)
}

/** Delivers a response that is in OpenAI's format, or that is converted to it. */
function deliverOpenAi(answering: Answering, prepared: Prepared): Promise<Response> {
  const { open, response } = answering
  const type = (response.headers.get('content-type') ?? '').toLowerCase()
  const { mode } = open.call
  if (type.startsWith('text/event-stream'))
    return mayStream(open.call)
      ? deliverStream(answering, prepared)
      : unusable(answering, 'the upstream streamed although streaming was not requested')
  const isSound = mode === 'speech' && !type.includes('json') && !type.startsWith('text/') && !isPage(type)
  if (isSound && response.body) return deliverSound(answering, response.body)
  return deliverWhole(answering, prepared, type)
}

/** `type` is the content type of the response, in lower case. */
async function deliverWhole(answering: Answering, prepared: Prepared, type: string): Promise<Response> {
  const { deps, open, response } = answering
  const { key } = open.channel.upstream
  const { mode, facts } = open.call
  const text = await readWhole(answering)
  const parsed = tryParse(text)
  const isPlain = !type.includes('json') && !isPage(type) && asksForText(open.call)
  if (isPlain && !(isObject(parsed) && readReply(mode, parsed).error))
    return settleWhole(answering, { text, ...heard(text) })
  if (!isObject(parsed)) throw badBody("the upstream's response is not JSON", response.status)
  const { translation } = prepared
  const { status } = response
  const body = translation ? madeOf(() => dated(translation.reply(parsed), mode, deps.clock), status) : parsed
  const reply = readReply(mode, body)
  if (reply.error) throw errorWithin(reply.error, status, key)
  const list = listOf[mode]
  if (list && !Array.isArray(body[list])) throw badBody(`the upstream's response has no ${list}`, status)
  if (list === 'choices' && isEmpty(body[list]) && !reply.usage)
    throw badBody("the upstream's response has no choices", status)
  if (facts.stream && (mode === 'chat' || mode === 'completions')) throw badBody('the upstream did not stream', status)
  // OpenAI's libraries read the usage of every embeddings response, but not every service reports it.
  if (translation && mode === 'embeddings' && !reply.usage) body['usage'] = await embeddingUsage(deps, open)
  const settled = { body, text, reply }
  if (list === 'choices' && leavesRefusals(open.call)) {
    const { usage, output, media } = reply
    const answer = { usage, output: () => output, media }
    const delivering = () => namingDropped(settleBody(answering, prepared, settled), prepared)
    refuseRefusal(answering, () => stopsIn(body['choices']), answer, delivering)
  }
  return settleBody(answering, prepared, settled)
}

/** Charges for a whole response in OpenAI's format, and returns it. */
function settleBody(
  answering: Answering,
  { translation }: Prepared,
  { body, text, reply }: { body: JsonObject; text: string; reply: ReturnType<typeof readReply> },
): Promise<Response> {
  const { open, response } = answering
  const { mode } = open.call
  open.tools?.take(body)
  const isRepaired = mode === 'chat' && repairCalls(body, open.call.requestId)
  const answerText = translation || isRepaired ? madeOf(() => JSON.stringify(body), response.status) : text
  return settleWhole(answering, {
    text: answerText,
    isJson: true,
    usage: reply.usage,
    output: () => reply.output,
    media: reply.media,
    beside: besideUsage(mode, body),
  })
}

/** Kinds of calls whose response is never an event stream. */
const neverStreamed: ReadonlySet<RelayMode> = new Set(['embeddings', 'moderations', 'rerank'])

/** True if the caller requested an event stream. Each kind of call has its own way to request one. */
function mayStream({ mode, facts, state: { body } }: RelayCall): boolean {
  if (neverStreamed.has(mode)) return false
  return facts.stream || (mode === 'speech' && body.kind === 'json' && body.json['stream_format'] === 'sse')
}

/** True if the caller wants a transcript in a format other than JSON, such as text or subtitles. */
function asksForText({ mode, state: { body } }: RelayCall): boolean {
  if ((mode !== 'transcriptions' && mode !== 'translations') || body.kind !== 'form') return false
  return !/json|^$/i.test(body.form.fields.get('response_format') ?? '')
}

function isEmpty(list: unknown): boolean {
  return Array.isArray(list) && list.length === 0
}

/** The measured quantities of a call that is not charged by tokens. */
function besideUsage(mode: RelayMode, body: JsonObject) {
  if (mode.startsWith('image')) return { images: imagesIn(body) }
  return mode === 'rerank' ? searchesIn(body) : undefined
}

/** The number of images received. Some services put an error in place of an image that failed. */
function imagesIn({ data }: JsonObject): number {
  const list = Array.isArray(data) ? (data as unknown[]) : []
  return list.filter((each) => !isObject(each) || !each['error']).length
}

/** The search units in a response from Cohere or in Cohere's format. */
function searchesIn({ meta }: JsonObject): { searches: number } | undefined {
  const units = looseObject(looseObject(meta)['billed_units'])['search_units']
  return Number.isSafeInteger(units) ? { searches: units as number } : undefined
}

/**
 * Measures a transcript. The last timestamp of subtitles gives the length of the audio. If there are no timestamps, the
 * length is estimated from the text. The timestamps are not part of the measured text, because they are not speech.
 */
function heard(text: string) {
  const { seconds, speech } = readSubtitles(text) ?? { seconds: undefined, speech: text }
  return { usage: undefined, output: () => speech, beside: { cueSeconds: seconds } }
}

/** The tokens of the embedded input, counted by the gateway. */
async function embeddingUsage(deps: RelayDeps, { call: { facts } }: OpenCall): Promise<JsonObject> {
  const tokens = await deps.counter.count(facts.model, facts.prompt, deps.settings().ApproximateTokenEnabled)
  return { prompt_tokens: tokens, total_tokens: tokens }
}

/**
 * True for the content type of a web page. A page is not passed on, because it is never an API response, and a browser
 * would run its scripts.
 */
function isPage(type: string): boolean {
  return /html|xml|svg/.test(type)
}

/** Adds the creation time to an image response. OpenAI's responses contain it, but few other services send it. */
function dated(body: JsonObject, mode: RelayMode, clock: Clock): JsonObject {
  const isUndated = mode === 'images' && Array.isArray(body['data']) && body['created'] === undefined
  return isUndated ? { ...body, created: epochSeconds(clock) } : body
}

async function deliverStream(answering: Answering, prepared: Prepared): Promise<Response> {
  const { open } = answering
  const { mode, facts } = open.call
  const isChat = mode === 'chat' || mode === 'completions'
  const images = isChat ? 0 : imagesRequested(open.call)
  const newMeter = () =>
    isChat ? new OpenAiStreamMeter(facts.choices, open.call.requestId) : new TypedEventMeter(images)
  const opened = await openStream(answering, newMeter)
  if (!isChat || !isHeldBack(open.call)) return passStream(answering, prepared, newMeter(), opened)
  const held = await holdBack(answering, opened, openAiDecoder(open.call), (refusal) =>
    namingDropped(passStream(answering, prepared, newMeter(), refusal), prepared),
  )
  return passStream(answering, prepared, newMeter(), held)
}

/** Passes on a stream that has begun. `ownMeter` must be a new meter. */
function passStream(
  answering: Answering,
  { requestsUsage }: Prepared,
  ownMeter: StreamMeter,
  { reader, opening }: Opened,
): Promise<Response> {
  const { deps, open, response } = answering
  takeOver(answering)
  const rescuer = rescueFor(deps, open.call)
  forgetBody(open.call)
  const meter = countingMeter(ownMeter, open.tools)
  const stream = new RelayStream({
    deps,
    open,
    reader,
    meter: rescuer ? rescuer.metered(meter, openaiChat) : meter,
    rescuer,
    withholdUsage: requestsUsage,
    opening,
  })
  return stream.body().then((text) => {
    const headers = streamHeaders(response.headers, open.call, open.channel.upstream.key)
    return new Response(text, { status: 200, headers })
  })
}

async function deliverSound(answering: Answering, body: ReadableStream<Uint8Array>): Promise<Response> {
  const { deps, open, response, sentAtMs } = answering
  const limits = { ...timeLimits(deps, open, sentAtMs), keepAliveMs: 0 }
  const from = readerOf(deps, body, limits)
  const first = await from.next()
  if (first.kind !== 'chunk') {
    from.cancel()
    throw noWholeAnswer(first.kind, open, response.status)
  }
  takeOver(answering)
  const reported = response instanceof SoundResponse ? response.usage : undefined
  return new Response(new BinaryStream(deps, open, from, first, reported) as unknown as ReadableStream, {
    status: 200,
    headers: answerHeaders(response.headers, open.call, open.channel.upstream.key),
  })
}
