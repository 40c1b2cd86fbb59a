import { isOfOtherMaker, modelTraits } from '../../dialects/models/claude-model.ts'
import { wantsCompletionLimit } from '../../dialects/models/openai-model.ts'
import type { DialectName } from '../../dialects/neutral/conversation.ts'
import type { Dialect, Frame, UpstreamDialect } from '../../dialects/neutral/dialect.ts'
import { chatRules } from '../../dialects/neutral/tool-rules.ts'
import { repairChat } from '../../dialects/openai-chat/repair.ts'
import { type Losable, nameOf } from '../../dialects/wire/dropped-fields.ts'
import { placeSystem, placeSystemItems, type SystemPlacement } from '../../dialects/wire/system-turns.ts'
import { GatewayError } from '../../errors.ts'
import { isObject, type JsonObject, tryStringify } from '../../lib/json.ts'
import { JsonBytes } from '../../lib/json-bytes.ts'
import { insertMembers, setMembers } from '../../lib/json-edit.ts'
import type { ChatEndpoint, ModeEndpoint, UpstreamCall } from '../../providers/provider.ts'
import { fieldsOf, type JsonBody } from '../body/json-body.ts'
import type { RelayCall } from '../call/call.ts'
import type { Channel } from '../routing/routing-table.ts'
import type { Sending } from './send.ts'

/**
 * Decodes and encodes the response to a conversation. Needed if the caller or the upstream does not use OpenAI chat.
 */
export interface Codec {
  /** The upstream's dialect. */
  from: UpstreamDialect
  /** The caller's dialect; absent = the same as the upstream's, so that the response is passed on unchanged. */
  to: { dialect: Dialect; frame: Frame } | undefined
  /** Names of the fields that were dropped because the upstream does not accept them. */
  dropped: readonly string[]
}

/** A request prepared for one channel. */
export interface Prepared {
  body: Sending['body'] | JsonBytes
  contentLength: number | undefined
  contentType: string
  /** True if the gateway, not the caller, requested the usage chunk. The chunk is then dropped from the stream. */
  requestsUsage: boolean
  systemPromptReset: boolean
  /** True if the service tier that the caller requested is not sent to the service. */
  tierLost?: boolean
  /** The beginning of a turn that the service must continue; absent = the service begins its turn itself. */
  begunWith?: string
  /** Names of the fields that are sent to the service under another name. */
  renamed?: readonly string[]
  /**
   * Names of the fields that are dropped for a service that uses OpenAI's format. If `codec` is set, its list is used.
   */
  dropped?: readonly string[]
  /** Absent if both sides use OpenAI's format. */
  codec?: Codec
  /** For calls that are not conversations: converts the service's response into OpenAI's format. */
  translation?: { reply(answer: JsonObject): JsonObject }
}

const nothing: readonly string[] = []

/** Names of a request's fields that were dropped or sent under another name. */
export function leftOutOf({ codec, renamed, dropped }: Prepared): readonly string[] {
  if (codec) return codec.dropped
  return renamed ? [...renamed, ...(dropped ?? nothing)] : (dropped ?? nothing)
}

/** A call on one channel, before it is prepared. */
export interface Attempting {
  call: RelayCall
  channel: Channel
  endpoint: ChatEndpoint | ModeEndpoint
  /** The model name as sent upstream. */
  upstreamModel: string
  upstreamCall: UpstreamCall
  /**
   * The maximum number of tokens in the response, if the balance covers less than was requested; otherwise undefined.
   */
  capTokens: number | undefined
  /** True if the service refuses to report the usage of a stream. */
  withoutUsage?: boolean
  /** True if the service refused reasoning from earlier in the conversation, so that it is dropped. */
  withoutThoughts?: boolean
  /** True if the service refused to continue an incomplete turn, so that it is asked to continue in a new turn. */
  withoutPrefill?: boolean
  /** True if the service does not compact conversations, so that the gateway asks the model for a summary. */
  ownSummary?: boolean
  /**
   * The cached upstream tokens that are sent with the call, by their names in the cache. An upstream token is the token
   * with which the provider logs in.
   */
  lent?: Map<string, string>
}

/**
 * Prepares a request that is passed on. Only the necessary parts of the caller's body are changed, such as the model,
 * the system prompt, the request for usage, and the limit on the response if the balance covers less than was
 * requested.
 */
export function prepare(attempting: Attempting): Prepared {
  const { call, endpoint, upstreamModel, upstreamCall, capTokens } = attempting
  if (call.state.body.kind === 'form') {
    const { form: callerForm } = call.state.body
    // A form without a model is charged at the price of the default model, so the default model is written into the
    // form.
    const form = callerForm.withField(
      'model',
      upstreamModel === callerForm.fields.get('model') ? undefined : upstreamModel,
    )
    return {
      body: form.body,
      contentLength: typeof form.body === 'function' ? form.length : undefined,
      contentType: callerForm.contentType,
      requestsUsage: false,
      systemPromptReset: false,
    }
  }
  const { body } = call.state
  const translation = 'translation' in endpoint ? endpoint.translation : undefined
  const finish = 'finish' in endpoint ? endpoint.finish : translation?.request
  const fields = fieldsOf(body)
  const isRenamed = refusesMaxTokens(attempting, fields)
  const isBare = refusesMetadata(attempting, fields)
  const isRewritten = isRenamed || isBare || finish !== undefined
  const json = isRewritten ? body.json : fields
  const edits: JsonObject = {}
  if (upstreamModel !== json['model']) edits['model'] = upstreamModel
  const requestsUsage = asksForUsage(attempting)
  if (requestsUsage) {
    edits['stream_options'] = { ...(isObject(json['stream_options']) && json['stream_options']), include_usage: true }
  }
  if (call.mode === 'chat') {
    const messages = messagesFor(attempting, json)
    // The outline of a body does not contain its long texts, so the changed messages are created from the whole body.
    if (messages) edits['messages'] = body.outline ? messagesFor(attempting, body.json) : messages
  }
  if (capTokens !== undefined) Object.assign(edits, capped(json, upstreamModel, capTokens))
  const prepared: Prepared = {
    body: isRewritten ? '' : edited(body, edits),
    contentLength: undefined,
    contentType: 'application/json',
    requestsUsage,
    systemPromptReset: call.mode === 'chat' && attempting.channel.systemPrompt !== '',
  }
  if (translation) prepared.translation = { reply: (answer) => translation.reply(answer, upstreamCall, body.json) }
  if (!isRewritten) return prepared
  const dropped = new Set<string>()
  const lose = (what: Losable) => dropped.add(nameOf(what, 'openai-chat'))
  if (isBare) lose('metadata')
  const whole = { ...json, ...edits }
  const stripped = isBare ? withoutMetadata(whole) : whole
  const limited = isRenamed ? withNewLimit(stripped) : stripped
  prepared.body = written(finish ? finish(limited, upstreamCall, lose) : limited)
  if (dropped.size > 0) prepared.dropped = [...dropped]
  if (isRenamed) prepared.renamed = ['max_tokens']
  return prepared
}

/** The messages to send in place of those in a chat request; undefined = they are not changed. */
function messagesFor(attempting: Attempting, json: JsonObject): unknown {
  const { channel, endpoint } = attempting
  const { messages } = 'dialect' in endpoint ? repairChat(json, (endpoint.options?.toolRules ?? chatRules).ids) : {}
  const reset =
    channel.systemPrompt === '' ? messages : withSystemPrompt(messages ?? json['messages'], channel.systemPrompt)
  return chatPlaced(attempting, reset ?? json['messages'], true) ?? reset
}

/**
 * True if the model refuses `max_tokens`, the older name of the limit. OpenAI's own reasoning models refuse it, whereas
 * other services may support only the older name.
 */
function refusesMaxTokens({ call, endpoint, upstreamModel }: Attempting, { max_tokens: limit }: JsonObject): boolean {
  if (call.mode !== 'chat' || limit === undefined || limit === null || !wantsCompletionLimit(upstreamModel))
    return false
  return 'dialect' in endpoint && endpoint.options?.wantsNewLimit === true
}

function refusesMetadata({ call, endpoint }: Attempting, { metadata, store }: JsonObject): boolean {
  if (call.mode !== 'chat' || metadata === undefined || metadata === null || !('dialect' in endpoint)) return false
  const refuses = endpoint.options?.refusesMetadata
  return refuses === 'always' || (refuses === 'unstored' && store !== true)
}

function withoutMetadata({ metadata: _metadata, ...body }: JsonObject): JsonObject {
  return body
}

function withNewLimit({ max_tokens: limit, ...body }: JsonObject): JsonObject {
  return { ...body, max_completion_tokens: body['max_completion_tokens'] ?? limit }
}

/** Serialises a body. Throws GatewayError (400) if the body is nested too deeply. */
export function written(body: JsonObject): string {
  const text = tryStringify(body)
  if (text === undefined) throw tooDeep()
  return text
}

/** The error for a body that could be parsed but is nested too deeply to be serialised again. */
function tooDeep(cause?: unknown): GatewayError {
  return new GatewayError('invalid_json', 'the request body is nested too deeply', { cause })
}

/** Returns a JSON body with the given fields set. Throws GatewayError (400) if the body is nested too deeply. */
export function edited(body: JsonBody, edits: JsonObject): string | JsonBytes {
  const { outline } = body
  const isSame = hasNoFields(edits)
  if (!outline) return isSame ? body.text : editedText(body.text, body.json, edits)
  return new JsonBytes(isSame ? outline.bytes : outline.restored(editedText(outline.text, fieldsOf(body), edits)))
}

function hasNoFields(object: JsonObject): boolean {
  for (const _name in object) return false
  return true
}

/** The JSON text of a body that is sent; undefined for a form. */
export function jsonTextOf(body: Prepared['body']): string | undefined {
  if (typeof body === 'string') return body
  return body instanceof JsonBytes ? body.text : undefined
}

function editedText(text: string, json: JsonObject, edits: JsonObject): string {
  try {
    const entries = Object.entries(edits)
    return entries.every(([key]) => !(key in json)) ? insertMembers(text, entries) : setMembers(text, edits)
  } catch (error) {
    throw tooDeep(error)
  }
}

function asksForUsage({ call: { facts, mode }, channel, withoutUsage }: Attempting): boolean {
  const streamsChat = facts.stream && (mode === 'chat' || mode === 'completions')
  return streamsChat && !facts.wantsStreamUsage && channel.provider.asksForStreamUsage && !withoutUsage
}

/** Replaces the content of the first message if it is a system message. Otherwise inserts a system message in front. */
function withSystemPrompt(messages: unknown, prompt: string): unknown[] {
  const list = Array.isArray(messages) ? (messages as unknown[]) : []
  const first = list[0]
  if (isObject(first) && (first['role'] === 'system' || first['role'] === 'developer'))
    return [{ ...first, content: prompt }, ...list.slice(1)]
  return [{ role: 'system', content: prompt }, ...list]
}

/**
 * Reduces `max_completion_tokens` and `max_tokens` to `capTokens`. If the caller set both, both are reduced, because
 * services differ in which one they use. If the caller set neither, the one that the model accepts is added. Reasoning
 * models refuse `max_tokens` (OpenAI API reference, "max_completion_tokens").
 */
function capped(json: JsonObject, model: string, capTokens: number): JsonObject {
  const limits = ['max_completion_tokens', 'max_tokens'].flatMap((field) => {
    const limit = json[field]
    return typeof limit === 'number' ? [[field, limit > 0 ? Math.min(limit, capTokens) : capTokens]] : []
  })
  if (limits.length > 0) return Object.fromEntries(limits) as JsonObject
  return { [wantsCompletionLimit(model) ? 'max_completion_tokens' : 'max_tokens']: capTokens }
}

/** The facts that determine where system messages are placed. */
interface Placing {
  readonly channel: Pick<Channel, 'systemPlacement'>
  readonly endpoint: ChatEndpoint | ModeEndpoint
  readonly upstreamModel: string
}

/**
 * Moves the system messages among OpenAI chat messages to positions that the channel's service accepts; undefined =
 * nothing has to be moved. If the caller also uses OpenAI chat (`isPassedOn`), several system messages at the beginning
 * are left unchanged, unless the channel has a setting for their placement.
 */
export function chatPlaced(placing: Placing, messages: unknown, isPassedOn: boolean): unknown[] | undefined {
  const placement = placementOf(placing)
  if (placement === 'keep' || !Array.isArray(messages)) return undefined
  return placeSystem(messages, placement, isPassedOn && !placing.channel.systemPlacement ? 'several' : 'one')
}

/**
 * Returns the fields to set in a request that is passed on in the caller's dialect. They move its system messages to
 * positions that the service accepts.
 */
export function placedMembers(placing: Placing, dialect: DialectName, body: JsonObject): JsonObject {
  const { messages, input } = body
  if (dialect === 'anthropic-messages' && Array.isArray(messages)) {
    const isKept = placing.channel.systemPlacement === 'keep' || takesTurns(placing)
    const placed = isKept ? undefined : placeSystem(messages, 'user', 'none')
    return placed ? { messages: placed } : {}
  }
  if (dialect === 'openai-responses' && Array.isArray(input) && placementOf(placing) !== 'keep') {
    const placed = placeSystemItems(input)
    return placed ? { input: placed } : {}
  }
  return {}
}

/**
 * True if a model accepts system messages between turns. Newer Claude models do, wherever they are hosted. Older Claude
 * models and models of other vendors do not. A model whose name shows no vendor is assumed to accept them.
 */
function takesTurns({ channel, endpoint, upstreamModel }: Placing): boolean {
  if (channel.systemPlacement !== undefined) return false
  if ('takesUnsignedThoughts' in endpoint || isOfOtherMaker(upstreamModel)) return false
  return !/claude/i.test(upstreamModel) || modelTraits(upstreamModel).midSystem
}

function placementOf({ channel, endpoint }: Placing): SystemPlacement {
  if (channel.systemPlacement) return channel.systemPlacement
  return 'dialect' in endpoint && !endpoint.takesSystemAnywhere ? 'user' : 'keep'
}
