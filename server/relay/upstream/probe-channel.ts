import { isChatModel, modeOfModel } from '../../../contract/model-kinds.ts'
import type { RelayMode } from '../../../contract/relay-modes.ts'
import { textsOf } from '../../dialects/metering/event-tally.ts'
import { readReply } from '../../dialects/openai-passthrough/reply.ts'
import { readRequest } from '../../dialects/openai-passthrough/request.ts'
import { GatewayError } from '../../errors.ts'
import { isObject, type JsonObject, tryParse } from '../../lib/json.ts'
import { runningSignal } from '../../lib/running-timer.ts'
import { withoutKey } from '../../lib/secrets/without-key.ts'
import type { RelayCall } from '../call/call.ts'
import type { Caller } from '../call/caller.ts'
import type { RelayDeps } from '../call/deps.ts'
import { Leaving } from '../cancellation/caller-left.ts'
import { AttemptFailed, judgeFailure, type Verdict } from '../failures/retry-policy.ts'
import { errorWithin, failureInAnswer, failureWithin, statusFailure } from '../failures/upstream-failure.ts'
import { type Channel, mappedModel } from '../routing/routing-table.ts'
import { askAt, endpointsOf } from './call-endpoint.ts'
import type { Prepared } from './prepare.ts'
import { readBounded } from './read-answer.ts'
import { patienceOf } from './time-limits.ts'

/** The result of a test call. */
export interface Probe {
  ok: boolean
  timeMs: number
  model: string
  message: string
  /** The model's text; '' if there was none, or the call failed. */
  reply: string
  verdict: Verdict | undefined
}

const probeTimeoutMs = 60_000
/**
 * The maximum length of a response to a test, in bytes. The test sends one word, so a longer response is not a model's
 * answer.
 */
const probeBytes = 1024 * 1024
/**
 * The time limit for a whole test. Without it, a response that never ends would delay the tests of the other channels.
 */
const wholeProbeMs = 90_000
const tooLate = 'the upstream did not finish its response in time'

/**
 * Makes one small real call to a channel, with the relay's own code but without an account. No quota is held or
 * charged.
 */
export async function probeChannel(deps: RelayDeps, channel: Channel, model: string | undefined): Promise<Probe> {
  const startedAtMs = deps.clock.nowMs()
  const probedModel = model ?? probeModel(channel)
  const done = (ok: boolean, message: string, verdict?: Verdict, reply = ''): Probe => ({
    ok,
    message: message || (ok ? '' : 'the test failed'),
    verdict,
    reply,
    model: probedModel,
    timeMs: Math.round(deps.clock.nowMs() - startedAtMs),
  })
  if (probedModel === '') return done(false, 'the channel has no models')
  if (channel.upstream.baseUrl === '') return done(false, 'the channel has no base_url, and its type has no default')
  const { signal, end } = runningSignal(wholeProbeMs)
  try {
    const times = { startedAtMs, arrivedAtMs: deps.deadlineWatch.nowMs() }
    const call = probeCall(channel, probedModel, times, signal)
    const upstreamModel = mappedModel(channel, probedModel)
    const [endpoint] = endpointsOf(deps, call, channel, upstreamModel)
    const patience = {
      ...patienceOf(channel, deps.settings()),
      firstByteTimeoutMs: channel.firstByteTimeoutMs ?? probeTimeoutMs,
    }
    const question = { call, channel, endpoint, upstreamModel, capTokens: undefined }
    const { prepared, response } = await askAt(deps, question, patience)
    const { text, ending } = await readBounded(deps, response, probeBytes, deps.deadlineWatch.nowMs() + wholeProbeMs)
    const { key } = channel.upstream
    if (!response.ok) {
      const failed = statusFailure(response, text, key, deps.clock.nowMs(), prepared.codec?.from)
      return done(false, failed.message, failed.verdict)
    }
    if (ending === 'overdue' || signal.aborted) return done(false, tooLate)
    const body = tryParse(text)
    if (!isObject(body)) return done(false, "the upstream's response is not JSON")
    const failed = errorOf(call.mode, body, prepared, response.status, key)
    if (failed) return done(false, failed.message, failed.verdict)
    return done(true, '', undefined, replyIn(call.mode, body, prepared))
  } catch (error) {
    if (signal.aborted) return done(false, tooLate)
    if (error instanceof AttemptFailed) return done(false, error.message, error.verdict)
    if (!(error instanceof GatewayError)) throw error
    // The result is shown to an admin, who may see the cause.
    const cause = error.cause instanceof Error ? `: ${error.cause.message}` : ''
    return done(false, withoutKey(error.message + cause, channel.upstream.key), judgeFailure(error))
  } finally {
    end()
  }
}

/** The maximum number of characters of the reply that are shown. */
const shownReply = 500

/** The text of the model's reply. */
function replyIn(mode: RelayMode, body: JsonObject, { codec, translation }: Prepared): string {
  const text = codec
    ? codec.from
        .decodeReply(body, 'test')
        .choices.flatMap(({ parts }) => parts.flatMap(textsOf))
        .join('')
    : readReply(mode, translation ? translation.reply(body) : body).output
  return text.slice(0, shownReply).toWellFormed()
}

/** The error in a response with status 200. */
function errorOf(
  mode: RelayMode,
  body: JsonObject,
  { codec, translation }: Prepared,
  status: number,
  key: string,
): AttemptFailed | undefined {
  if (codec) {
    const failure = failureInAnswer(codec.from, body)
    return failure ? failureWithin(failure, status, key) : undefined
  }
  const { error } = readReply(mode, translation ? translation.reply(body) : body)
  return error && errorWithin(error, status, key)
}

/**
 * The channel's test model. If none is set, its first chat model, or else its first other model that is cheap to call.
 */
function probeModel({ models, testModel }: Channel): string {
  if (testModel !== '') return testModel
  const isCheap = (model: string) => questions[modeOfModel(model)] !== undefined
  return models.find(isChatModel) ?? models.find(isCheap) ?? models[0] ?? ''
}

/** The test requests of the kinds of calls that are cheap enough for a test. */
const questions: Partial<Record<RelayMode, JsonObject>> = {
  chat: { messages: [{ role: 'user', content: 'hi' }] },
  completions: { prompt: 'hi', max_tokens: 1 },
  embeddings: { input: 'hi' },
  moderations: { input: 'hi' },
  rerank: { query: 'hi', documents: ['hi'] },
}

function probeCall(
  channel: Channel,
  model: string,
  { startedAtMs, arrivedAtMs }: Pick<RelayCall, 'startedAtMs' | 'arrivedAtMs'>,
  signal: AbortSignal,
): RelayCall {
  const known = modeOfModel(mappedModel(channel, model))
  // Images and audio are too expensive for a test. Models for them are tested with a chat, because some of them also
  // serve chat and because the name of a model may be misleading.
  const mode = known !== 'chat' && questions[known] && channel.provider.modes[known] ? known : 'chat'
  const json: JsonObject = { model, ...questions[mode] }
  return {
    requestId: 'channel-test',
    mode,
    dialect: 'openai-chat',
    path: mode === 'chat' ? '/v1/chat/completions' : `/v1/${mode}`,
    caller: nobody,
    facts: readRequest(mode, json),
    headers: {},
    signal,
    leaving: new Leaving(signal),
    arrivedAtMs,
    startedAtMs,
    state: {
      body: { kind: 'json', text: JSON.stringify(json), json },
      conversation: undefined,
      promptGuess: 1,
      attempts: [],
    },
  }
}

const nobody: Caller = {
  tokenId: 0,
  userId: 0,
  tokenName: '',
  tokenStatus: 1,
  expiredTime: -1,
  remainQuota: 0,
  unlimited: true,
  models: null,
  subnet: null,
  username: '',
  userStatus: 1,
  role: 0,
  group: 'default',
  userGroup: 'default',
  tokenLimits: undefined,
  userLimits: undefined,
  limits: undefined,
  allowedModels: undefined,
  chosenChannel: undefined,
}
