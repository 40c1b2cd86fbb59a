import { callerDialects } from '../../dialects/caller-dialects.ts'
import type { Conversation } from '../../dialects/neutral/conversation.ts'
import type { EncodedRequest } from '../../dialects/neutral/dialect.ts'
import { type Feature, needsOf } from '../../dialects/neutral/needs.ts'
import { chatRules } from '../../dialects/neutral/tool-rules.ts'
import { openaiChat } from '../../dialects/openai-chat/index.ts'
import { wireEdits } from '../../dialects/pass-through-edits.ts'
import { repairs } from '../../dialects/repairs.ts'
import { type Losable, nameOf } from '../../dialects/wire/dropped-fields.ts'
import { answeringFit, fitTools } from '../../dialects/wire/fit-tools.ts'
import { tierOf } from '../../dialects/wire/service-tier.ts'
import { spokenTurns } from '../../dialects/wire/spoken-turns.ts'
import { withoutThoughts } from '../../dialects/wire/without-thoughts.ts'
import { GatewayError } from '../../errors.ts'
import { isObject, type JsonObject } from '../../lib/json.ts'
import type { ChatEndpoint, HeadersInBody } from '../../providers/provider.ts'
import { refuseHeavyInputs } from '../body/heavy-inputs.ts'
import { fieldsOf } from '../body/json-body.ts'
import { translatedLimits } from '../body/json-limits.ts'
import { servingGroup } from '../call/at-step.ts'
import { conversationOf, type RelayCall } from '../call/call.ts'
import { foreignCompaction } from '../call/compactions.ts'
import type { RelayDeps } from '../call/deps.ts'
import { refuseUnknown } from '../call/item-store.ts'
import { continuedFrom, isThreaded, noThreads } from '../call/thread-calls.ts'
import { refuseUnpricedTools } from '../charging/tool-fees.ts'
import { AttemptFailed } from '../failures/retry-policy.ts'
import { droppedNames } from '../headers/dropped-header.ts'
import { inlineMedia, namesAddresses } from '../request/inline-media.ts'
import type { Channel } from '../routing/routing-table.ts'
import { goingOn, markedLast } from './going-on.ts'
import { type Attempting, chatPlaced, edited, type Prepared, placedMembers, prepare, written } from './prepare.ts'
import { compactsNatively, hasCompaction, summaryCodec, summaryRequest } from './prepare-compaction.ts'

/** Fields of a Responses request that refer to an earlier response or conversation, which only one service stores. */
export const keptFields = ['previous_response_id', 'conversation'] as const

/** An attempt to send a conversation to one endpoint of a channel. */
export type Conversing = Attempting & { endpoint: ChatEndpoint }

/**
 * Prepares a conversation for one channel. If the channel uses the caller's dialect, the request is passed on.
 * Otherwise, it is translated. Throws GatewayError if the request is invalid, and AttemptFailed if this channel cannot
 * serve it.
 */
export function prepareConversation(deps: RelayDeps, attempting: Conversing): Prepared | Promise<Prepared> {
  const { call, endpoint } = attempting
  if (!endpoint.keepsThreads && isThreaded(call)) throw unsent(noThreads(attempting.channel.provider.meta.label))
  if (call.inBackground && endpoint.dialect.name !== call.dialect)
    throw cannot(`channel type ${attempting.channel.provider.meta.label} cannot make responses in the background`)
  if (call.compacts && !compactsNatively(deps, attempting)) return translated(deps, attempting, summaryRequest)
  // A call that continues a broken stream is always translated, because the caller's own bytes do not include the
  // answer so far.
  if (endpoint.dialect.name !== call.dialect || call.goesOn) return translated(deps, attempting)
  if (call.state.body.kind === 'json') refuseUnpriced(deps, attempting, fieldsOf(call.state.body))
  if (endpoint.lacks) refuseLacking(attempting)
  if (mustInline(call, endpoint)) return translated(deps, attempting)
  if (call.dialect !== 'openai-chat') return passedOn(deps, attempting)
  const prepared = prepare(attempting)
  refuseDroppedFields(deps, attempting.channel, prepared.dropped ?? [])
  return prepared
}

/**
 * Returns the request in neutral form (decoded from its dialect). Throws GatewayError, or AttemptFailed if the request
 * has too many parts to be translated.
 */
export function partsOf(call: RelayCall): Conversation {
  const { body, conversation } = call.state
  if (conversation || body.kind !== 'json' || (body.containers ?? 0) <= translatedLimits.containers)
    return conversationOf(call)
  throw unsent(
    new GatewayError(
      'request_too_complex',
      `the request contains too many arrays and objects to be translated for the channel: the limit is ${translatedLimits.containers}`,
    ),
  )
}

/**
 * True if files that the request names by URL must be downloaded and sent as bytes. This is the case for Claude on
 * services other than Anthropic's, which do not open URLs. Only requests in Anthropic's dialect are checked. In
 * Google's dialect, a URL refers to a file that is stored at Google.
 */
function mustInline(call: RelayCall, { wantsBytes }: ChatEndpoint): boolean {
  if (!wantsBytes || call.dialect !== 'anthropic-messages') return false
  return call.known?.namesFiles ?? namesAddresses(partsOf(call))
}

function passedOn(deps: RelayDeps, attempting: Conversing): Prepared {
  const { call, channel, endpoint, upstreamModel, upstreamCall, capTokens } = attempting
  if (call.state.body.kind === 'form' || call.dialect === 'openai-chat')
    throw new GatewayError('invalid_json', 'the request body must be a JSON object')
  const { body } = call.state
  const { json } = body
  if (call.dialect === 'openai-responses') {
    refuseKept(deps, call, json)
    refuseForeignCompaction(deps, attempting, json)
  }
  // A thread (a conversation that the service stores) has the system prompt of its first call. The service rejects a
  // different one, so it is not set in a later call.
  const systemPromptReset = channel.systemPrompt !== '' && continuedFrom(call) === undefined
  const headerEdits = endpoint.headersInBody?.(call.headers, upstreamModel) ?? nothingOfHeaders
  const repair = repairs[call.dialect](json, body.text, {
    model: upstreamModel,
    ...(endpoint.takesUnsignedThoughts && { takesUnsigned: true }),
    ...(attempting.withoutThoughts && { withoutThoughts: true }),
  })
  const dropped = [...headerEdits.dropped, ...repair.dropped]
  refuseDroppedFields(deps, channel, dropped)
  const edits = {
    ...wireEdits[call.dialect](json, {
      ...(upstreamModel !== json['model'] && { model: upstreamModel }),
      ...(systemPromptReset && { systemPrompt: channel.systemPrompt }),
      ...(capTokens !== undefined && { maxTokens: capTokens }),
    }),
    ...headerEdits.members,
    ...repair.edits,
    ...placedMembers(attempting, call.dialect, { ...json, ...repair.edits }),
  }
  return {
    ...jsonBody(
      endpoint.finish
        ? written(endpoint.finish({ ...json, ...edits }, upstreamCall, () => undefined))
        : edited(body, edits),
    ),
    systemPromptReset,
    codec: { from: endpoint.dialect, to: undefined, dropped },
  }
}

/**
 * Translates a conversation for an endpoint. `summarize` creates a request for a summary, which is sent in place of the
 * conversation. The caller receives the summary as a compaction.
 */
async function translated(
  deps: RelayDeps,
  attempting: Conversing,
  summarize?: typeof summaryRequest,
): Promise<Prepared> {
  const { call, channel, endpoint, upstreamModel, upstreamCall, capTokens } = attempting
  if (call.dialect === 'openai-responses' && call.state.body.kind === 'json') {
    refuseUnknown(call.state.body.json)
    refuseForeignCompaction(deps, attempting, call.state.body.json)
  }
  const summary = summarize?.(partsOf(call))
  refuseLacking(attempting, summary?.needs)
  // The downloaded files are stored in the call, so that they need not be downloaded again for another channel.
  if (endpoint.wantsBytes)
    call.state.conversation = await inlineMedia(partsOf(call), (url) => deps.fetchMedia(url, call.signal))
  const going = call.goesOn && goingOn(partsOf(call), call.goesOn, attempting)
  const whole = summary?.conversation ?? going?.conversation ?? partsOf(call)
  const original = attempting.withoutThoughts ? withoutThoughts(whole) : whole
  await refuseHeavyInputs(original, endpoint.dialect.name, { limits: translatedLimits, turns: deps.turns })
  const systemPromptReset = channel.systemPrompt !== ''
  const conversation: Conversation = {
    ...original,
    model: upstreamModel,
    stream: upstreamCall.stream,
    wantsStreamUsage: channel.provider.asksForStreamUsage && !attempting.withoutUsage,
    ...(capTokens !== undefined && { maxTokens: capTokens }),
    ...(systemPromptReset && { system: [{ type: 'text', text: channel.systemPrompt }] }),
  }
  const isForeign = summary !== undefined || going !== undefined || endpoint.dialect.name !== call.dialect
  const turns = isForeign ? spokenTurns(conversation, endpoint.dialect.name) : { conversation, dropped: [] }
  // Tool names are changed only if the response is translated, because otherwise they could not be mapped back to the
  // caller's names.
  const fit = fitTools(
    turns.conversation,
    endpoint.options?.toolRules ?? endpoint.dialect.toolRules ?? chatRules,
    !isForeign,
  )
  const asIs = withHeaders(encoded(fit.conversation, endpoint), isForeign ? undefined : call, attempting)
  const left = new Set([...asIs.dropped, ...turns.dropped])
  if (attempting.withoutThoughts) left.add(nameOf('thought', call.dialect))
  const lose = (what: Losable) => left.add(nameOf(what, call.dialect))
  const placed = isChatForm(endpoint) ? chatPlaced(attempting, asIs.body['messages'], false) : undefined
  const spoken = placed ? { ...asIs.body, messages: placed } : asIs.body
  const finished = endpoint.finish ? endpoint.finish(spoken, upstreamCall, lose) : spoken
  const body = going?.mark ? markedLast(finished, going.mark) : finished
  left.delete('')
  const dropped = [...left]
  refuseDroppedFields(deps, channel, dropped)
  refuseUnpriced(deps, attempting, body)
  const { unread: _unread, ...rest } = original
  const nowSeconds = () => Math.floor(deps.clock.nowMs() / 1000)
  const frame = {
    id: call.requestId,
    model: call.facts.model,
    createdAtSeconds: nowSeconds(),
    nowSeconds,
    promptTokens: call.state.promptGuess,
    // Some dialects repeat the request in the response, except for its messages. To save memory, the messages are
    // dropped.
    request: { ...rest, messages: [] },
  }
  const { dialect: caller } = summary ? summaryCodec(deps, attempting) : { dialect: callerDialects[call.dialect] }
  return {
    ...jsonBody(written(body)),
    systemPromptReset,
    ...(call.facts.tier !== undefined && tierOf(body) === undefined && { tierLost: true }),
    ...(going?.begunWith !== undefined && { begunWith: going.begunWith }),
    codec: isForeign
      ? {
          from: answeringFit(endpoint.dialect, fit.ownNames, caller.toolRules),
          to: { dialect: caller, frame },
          dropped,
        }
      : { from: endpoint.dialect, to: undefined, dropped },
  }
}

/** True if an endpoint uses OpenAI's chat format, whatever the format of its errors. */
function isChatForm({ dialect }: ChatEndpoint): boolean {
  return dialect.encodeRequest === openaiChat.encodeRequest
}

const nothingOfHeaders: HeadersInBody = { members: {}, dropped: [] }

/**
 * Copies headers of the caller into the body, if the service accepts them as fields. `call` is undefined if the
 * caller's dialect differs from the service's, because the service does not support headers of another dialect.
 */
function withHeaders(
  { body, dropped }: EncodedRequest,
  call: RelayCall | undefined,
  { endpoint, upstreamModel }: Conversing,
): EncodedRequest {
  const headerEdits = (call && endpoint.headersInBody?.(call.headers, upstreamModel)) ?? nothingOfHeaders
  return { body: { ...body, ...headerEdits.members }, dropped: [...dropped, ...headerEdits.dropped] }
}

function refuseDroppedFields(deps: RelayDeps, { provider }: Channel, dropped: readonly string[]): void {
  if (dropped.length > 0 && deps.settings().StrictTranslationEnabled)
    throw cannot(`${droppedNames(dropped)} cannot be said to channel type ${provider.meta.label}`)
}

/**
 * Encodes a conversation. Fails if a part must not be dropped and cannot be expressed in the dialect. The error fails
 * only this attempt, because the dialect of another channel may be able to express the part.
 */
function encoded(conversation: Conversation, endpoint: ChatEndpoint) {
  try {
    return endpoint.dialect.encodeRequest(conversation, endpoint.options)
  } catch (error) {
    if (error instanceof GatewayError) throw unsent(error)
    throw error
  }
}

function jsonBody(body: Prepared['body']) {
  return { body, contentLength: undefined, contentType: 'application/json', requestsUsage: false }
}

function refuseLacking({ call, channel, endpoint }: Conversing, ofSummary?: ReadonlySet<Feature>): void {
  if (!endpoint.lacks) return
  const needs = ofSummary ?? call.known?.needs ?? needsOf(partsOf(call))
  const missing = endpoint.lacks.filter((feature) => needs.has(feature))
  if (missing.length > 0) throw cannot(`channel type ${channel.provider.meta.label} cannot do ${missing.join(', ')}`)
}

/** Refuses a reference to an earlier response if the gateway does not know which channel stores the response. */
function refuseKept(deps: RelayDeps, call: RelayCall, json: JsonObject): void {
  const keptField = keptFields.find((field) => json[field] !== undefined && json[field] !== null)
  if (keptField === undefined || call.keeper || call.caller.chosenChannel) return
  const isOneStep = !call.plan || call.plan.steps.length === 1
  if (isOneStep && deps.routing().candidates(servingGroup(call), call.facts.model).length === 1) return
  throw new GatewayError(
    'invalid_field_value',
    `${keptField} is known only to the channel that responded before, and several channels serve this model: send the whole conversation instead, or choose the channel in the token (sk-…-<channel id>)`,
    { param: keptField },
  )
}

/**
 * Refuses a channel whose service cannot read a compaction item in the request. Only the service that wrote the item
 * can decrypt it.
 */
function refuseForeignCompaction(deps: RelayDeps, { channel, endpoint }: Conversing, json: JsonObject): void {
  const at = foreignCompaction(json)
  if (at === undefined || hasCompaction(deps, channel, endpoint)) return
  throw unsent(
    new GatewayError(
      'feature_not_supported',
      `input[${at}] is a compaction item that only the service that wrote it can read, and channel type ${channel.provider.meta.label} is another service: send the conversation itself, or use the model that wrote the item`,
      { param: `input[${at}]` },
    ),
  )
}

/**
 * Refuses tools without a price. A tool that the service runs may call another model, whose tokens are missing in the
 * usage or cost more than is charged.
 */
function refuseUnpriced(deps: RelayDeps, { channel, upstreamModel }: Conversing, body: JsonObject): void {
  try {
    refuseUnpricedTools(body, deps.prices(), upstreamModel, channel.type)
  } catch (error) {
    throw error instanceof GatewayError ? unsent(error) : error
  }
  const { tools } = body
  if (!Array.isArray(tools) || deps.settings().UnpricedModelPolicy === 'fallback') return
  for (const tool of tools as unknown[]) {
    const message = whyUnpriced(tool)
    if (message !== undefined) throw unsent(new GatewayError('tool_not_priced', message, { param: 'tools' }))
  }
}

function whyUnpriced(tool: unknown): string | undefined {
  if (!isObject(tool)) return undefined
  const { type, model } = tool
  // An image from the tool `image_generation` has its own price, whichever model generates it.
  if (type === 'image_generation') return undefined
  if (typeof type !== 'string' || type === 'function' || (typeof model !== 'string' && !type.startsWith('advisor_')))
    return undefined
  return `what another model says by the tool ${type} has no price here: leave the tool out`
}

function cannot(message: string): AttemptFailed {
  return unsent(new GatewayError('feature_not_supported', message))
}

function unsent(error: GatewayError): AttemptFailed {
  return new AttemptFailed(error, { retry: true, upstreamFault: false, disable: undefined, unsent: true }, 0)
}
