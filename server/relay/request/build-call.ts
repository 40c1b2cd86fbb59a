import type { RelayMode } from '../../../contract/relay-modes.ts'
import { callerDialects } from '../../dialects/caller-dialects.ts'
import type { Conversation } from '../../dialects/neutral/conversation.ts'
import type { RequestFacts } from '../../dialects/neutral/dialect.ts'
import { factsOf } from '../../dialects/neutral/facts.ts'
import { readRequest } from '../../dialects/openai-passthrough/request.ts'
import { requestTokens } from '../../dialects/openai-responses/compaction.ts'
import { tierOf } from '../../dialects/wire/service-tier.ts'
import { GatewayError } from '../../errors.ts'
import { foldedName } from '../../lib/folded-name.ts'
import type { JsonObject } from '../../lib/json.ts'
import { fieldsOf } from '../body/json-body.ts'
import type { CallBody, RelayCall } from '../call/call.ts'
import type { CallRoute } from '../call/call-routes.ts'
import { type Caller, requireModel } from '../call/caller.ts'
import { asksToCompact } from '../call/compactions.ts'
import { addressOf, type KnownRequest } from '../call/known-request.ts'
import { planOf, planOfModels, seedOf } from '../call/plan.ts'
import type { ThreadKeeper } from '../call/threads.ts'
import { Leaving } from '../cancellation/caller-left.ts'
import { imageCountFields } from '../charging/image-charging.ts'
import { quickEstimate } from '../counting/quick-estimate.ts'
import { forwardedHeaders } from '../headers/relay-headers.ts'
import type { RoutingTable } from '../routing/routing-table.ts'
import { describeCall } from './describe-request.ts'
import type { Incoming } from './incoming.ts'
import { readOutlined } from './read-outlined.ts'
import { type ChannelAffinity, sessionOf } from './session-key.ts'

/**
 * Builds a call from a request. Throws GatewayError (400, 403) if no upstream could serve the call or if this caller is
 * not allowed to make it.
 */
export function buildCall(
  routing: RoutingTable,
  incoming: Incoming,
  caller: Caller,
  route: CallRoute,
  body: CallBody,
  { startedAtMs, arrivedAtMs, endsByMs, known, keeper, affinity }: BuildOptions,
): RelayCall {
  refuseAmbiguous(body, route.mode)
  if (body.kind === 'json') refuseOtherModels(fieldsOf(body))
  const compacts = compactionOf(body, route)
  const inBackground = isInBackground(body, route, compacts)
  const read = known
    ? { ...known, facts: withTier(known.facts, body), conversation: undefined }
    : requestIn(body, route, incoming.pathModel)
  const { facts, conversation, promptGuess } = compacts ? withSummaryRequest(read) : read
  const { headers } = incoming.request
  // In the background, the service generates the response even if the caller disconnects. The call must then continue
  // until it has stored the id of the response.
  const { signal } = inBackground ? new AbortController() : incoming.request
  const models = body.kind === 'json' ? body.models : undefined
  const hasSteps = models !== undefined || routing.virtual(caller.group, facts.model) !== undefined
  if (!hasSteps) requireModel(caller, facts.model)
  const session =
    hasSteps || hasChoice(routing, caller, facts.model)
      ? sessionOf({ affinity, tokenId: caller.tokenId, headers, body, ...route })
      : undefined
  const planning = () => ({ routing, caller, keeper, seed: session ?? seedOf(incoming.requestId) })
  const plan = models ? planOfModels(planning(), models) : hasSteps ? planOf(planning(), facts.model) : undefined
  return {
    requestId: incoming.requestId,
    mode: route.mode,
    dialect: route.dialect,
    path: route.mode === 'embeddings' ? '/v1/embeddings' : route.path,
    caller: route.proxyChannel === undefined ? caller : throughProxy(routing, caller, route.proxyChannel, facts.model),
    facts,
    address: addressOf(route),
    known,
    compacts,
    inBackground,
    keeper,
    headers: forwardedHeaders(headers, route.dialect),
    signal,
    leaving: new Leaving(signal, incoming.ended),
    startedAtMs,
    arrivedAtMs,
    endsByMs,
    session,
    plan,
    described: describeCall(incoming, route, body, facts),
    recording: incoming.recording,
    state: { body, conversation, promptGuess, attempts: [] },
  }
}

/**
 * How the call compacts its conversation; undefined if it does not. Throws GatewayError (400) if the request asks to
 * stream a compaction that cannot be streamed.
 */
function compactionOf(body: CallBody, { dialect, compacts }: CallRoute): RelayCall['compacts'] {
  if (dialect !== 'openai-responses' || body.kind === 'form') return undefined
  if (!compacts) return asksToCompact(body) ? 'item' : undefined
  if (body.json['stream'] === true)
    throw new GatewayError('invalid_field_value', 'a compaction cannot be streamed: omit stream', { param: 'stream' })
  return 'call'
}

/**
 * True if the response must be generated in the background. Throws GatewayError (400) if the caller could not fetch the
 * response, or if this kind of call has no background mode.
 */
function isInBackground(body: CallBody, { dialect }: CallRoute, compacts: RelayCall['compacts']): true | undefined {
  if (dialect !== 'openai-responses' || body.kind === 'form') return undefined
  const { background, store } = body.json
  if (background === undefined || background === null || background === false) return undefined
  const wrong = (message: string, param: string) => new GatewayError('invalid_field_value', message, { param })
  if (background !== true) throw wrong('background must be true or false', 'background')
  if (compacts) throw wrong('a compaction cannot be made in the background: omit background', 'background')
  if (store === false)
    throw wrong('a response that is made in the background must be stored to be fetched: omit store', 'store')
  return true
}

/** Adds the tokens of the instruction to summarize, which the gateway may have to send. */
function withSummaryRequest({ facts, promptGuess, conversation }: ReadRequest): ReadRequest {
  const prompt = { ...facts.prompt, fixedTokens: facts.prompt.fixedTokens + requestTokens }
  return { facts: { ...facts, prompt }, promptGuess: promptGuess + requestTokens, conversation }
}

/** The times at which a call began and its request arrived, and the deadline by which the call must end. */
export type CallTimes = Pick<RelayCall, 'startedAtMs' | 'arrivedAtMs' | 'endsByMs'>

/** The facts about a call that are known before it is built. */
interface BuildOptions extends CallTimes {
  /** The facts of a request that was read on another thread; absent = it is read on the main thread. */
  known?: KnownRequest | undefined
  /** The channel and key that store the response or conversation from which the call continues. */
  keeper?: ThreadKeeper | undefined
  affinity: ChannelAffinity
}

/**
 * True if more than one channel or key could serve the call. Otherwise, the session of the call makes no difference.
 */
function hasChoice(routing: RoutingTable, { chosenChannel, group }: Caller, model: string): boolean {
  if (chosenChannel) return chosenChannel.keyRing !== undefined
  const candidates = routing.allCandidates(group, model)
  return candidates.length > 1 || candidates[0]?.channel.keyRing !== undefined || routing.hasDrained
}

/** The caller, restricted to a proxy channel that its group may use for the model. */
function throughProxy(routing: RoutingTable, caller: Caller, id: number, model: string): Caller {
  const candidates = routing.candidates(caller.group, model)
  const candidate = candidates.find(({ channel }) => channel.id === id && channel.provider.byNumber === true)
  if (candidate) return { ...caller, chosenChannel: candidate.channel }
  throw new GatewayError(
    'invalid_channel_id',
    `channel ${id} is not a Proxy channel that serves model ${model} for group ${caller.group}`,
  )
}

/**
 * Reads the request. Of an OpenAI chat request, only the necessary parts are read. Requests in other dialects are read
 * completely.
 */
function requestIn(body: CallBody, route: CallRoute, pathModel: string | undefined): ReadRequest {
  const known = body.kind === 'json' && body.outline && readOutlined(body.outline, pathModel ?? route.model)
  if (known) return { ...known, conversation: undefined }
  const fields = body.kind === 'json' ? body.json : formFacts(body.form.fields)
  if (route.mode !== 'chat' || route.dialect === 'openai-chat') {
    const facts = readRequest(route.mode, fields, pathModel ?? route.model)
    return { facts, conversation: undefined, promptGuess: quickEstimate(facts.prompt) }
  }
  const conversation = callerDialects[route.dialect].decodeRequest(fields, addressOf(route))
  const facts = factsOf(conversation)
  return { facts: withTier(facts, body), conversation, promptGuess: quickEstimate(facts.prompt) }
}

interface ReadRequest {
  facts: RequestFacts
  conversation: Conversation | undefined
  promptGuess: number
}

/** Adds the service tier, read from the body itself because the neutral form does not cover all tiers. */
function withTier(facts: RequestFacts, body: CallBody): RequestFacts {
  const tier = body.kind === 'json' ? tierOf(body.json) : undefined
  return tier === undefined ? facts : { ...facts, tier }
}

/**
 * Fields that name models that may answer instead of `model` (OpenRouter: "Model Fallbacks"; Anthropic: server-side
 * fallbacks; LiteLLM: "Fallbacks", which has one field for each kind of failure).
 */
const otherModels = ['models', 'fallbacks', 'context_window_fallbacks', 'content_policy_fallbacks']

/** Fields that determine what is served and charged. */
const decisive = new Set([
  ...otherModels,
  'model',
  'n',
  'best_of',
  'stream',
  'stream_options',
  'max_tokens',
  'max_completion_tokens',
  'service_tier',
  'speed',
  'inference_geo',
])

const decisiveInAll = ['model']
/** Fields that determine the price of images before they are generated. */
const decisiveInImages = ['model', 'n', 'size', 'quality', 'sequential_image_generation', ...imageCountFields]

/** Fields that determine the price of speech before it is generated. */
const decisiveInSpeech = ['model', 'input', 'instructions']

function decisiveIn(mode: RelayMode): readonly string[] {
  if (mode === 'speech') return decisiveInSpeech
  return mode.startsWith('image') ? decisiveInImages : decisiveInAll
}

/**
 * Refuses names that other parsers could take for a decisive field, because they differ only in case or contain letters
 * that are treated as the same. In forms, repeated names are refused too. In JSON, they were refused when the body was
 * read. Throws GatewayError (400).
 */
function refuseAmbiguous(body: CallBody, mode: RelayMode): void {
  const inMode = decisiveIn(mode)
  const isDecisive = (name: string) => decisive.has(name) || inMode.includes(name)
  const names = body.kind === 'json' ? Object.keys(fieldsOf(body)) : [...body.form.names.keys()]
  for (const name of names) {
    if (isDecisive(name)) continue
    const meant = foldedName(name)
    if (meant !== name && isDecisive(meant))
      throw new GatewayError('invalid_field_value', `${name} must be written ${meant}`, { param: name })
  }
  if (body.kind === 'json') return
  const { names: counts, fields } = body.form
  const twice = names.find((name) => isDecisive(name) && (counts.get(name) ?? 0) > 1)
  if (twice !== undefined)
    throw new GatewayError('invalid_field_value', `${twice} appears twice in the request`, { param: twice })
  const file = inMode.find((name) => counts.has(name) && !fields.has(name))
  if (file !== undefined)
    throw new GatewayError('invalid_field_value', `${file} must be a plain field, not a file`, { param: file })
}

/** Refuses fields that name other models, whose price and permission were not checked. Throws GatewayError (400). */
function refuseOtherModels(json: JsonObject): void {
  for (const name of otherModels) {
    const value = json[name]
    if (value === undefined || value === null || (Array.isArray(value) && value.length === 0)) continue
    throw new GatewayError(
      'invalid_field_value',
      `${name} lists models other than the one that is allowed and billed: omit it; a request that fails on one channel is retried on others that serve the model`,
      { param: name },
    )
  }
}

function formFacts(fields: ReadonlyMap<string, string>): JsonObject {
  const stream = fields.get('stream')
  return { ...Object.fromEntries(fields), ...(stream !== undefined && { stream: /^(?:true|1)$/i.test(stream) }) }
}
