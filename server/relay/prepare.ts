import { GatewayError } from '../errors.ts'
import { isObject, type JsonObject } from '../lib/json.ts'
import { insertMembers, setMembers } from '../lib/json-edit.ts'
import {
  type ChatEndpoint,
  chatEndpointFor,
  type ModeEndpoint,
  type Target,
  type UpstreamCall,
} from '../providers/provider.ts'
import type { RelayCall } from './call.ts'
import type { RelayDeps } from './deps.ts'
import type { Channel } from './routing-table.ts'
import type { Sending } from './send.ts'

/** A request made ready for one channel. */
export interface Prepared {
  body: Sending['body']
  contentLength: number | undefined
  contentType: string
  /** We asked for the usage chunk; a caller who did not gets the stream without it. */
  askedForUsage: boolean
  systemPromptReset: boolean
}

/**
 * The caller's bytes with only what must change: the mapped model, the channel's system prompt, the request for usage,
 * and a cap on the answer where the balance affords less than was asked for.
 */
export function prepare(
  call: RelayCall,
  channel: Channel,
  upstreamModel: string,
  capTokens: number | undefined,
): Prepared {
  if (call.body.kind === 'form') {
    const form = call.body.form.withField('model', upstreamModel === call.facts.model ? undefined : upstreamModel)
    return {
      body: form.body,
      contentLength: typeof form.body === 'function' ? form.length : undefined,
      contentType: call.body.form.contentType,
      askedForUsage: false,
      systemPromptReset: false,
    }
  }
  const { json, text } = call.body
  const edits: JsonObject = {}
  if (upstreamModel !== json['model']) edits['model'] = upstreamModel
  const askedForUsage = asksForUsage(call, channel)
  if (askedForUsage) {
    edits['stream_options'] = { ...(isObject(json['stream_options']) && json['stream_options']), include_usage: true }
  }
  const systemPromptReset = channel.systemPrompt !== '' && call.mode === 'chat'
  if (systemPromptReset) edits['messages'] = withSystemPrompt(json['messages'], channel.systemPrompt)
  if (capTokens !== undefined) edits[capField(json, upstreamModel)] = capTokens
  return {
    body: edited(text, json, edits),
    contentLength: undefined,
    contentType: 'application/json',
    askedForUsage,
    systemPromptReset,
  }
}

function edited(text: string, json: JsonObject, edits: JsonObject): string {
  const entries = Object.entries(edits)
  if (entries.length === 0) return text
  try {
    return entries.every(([key]) => !(key in json)) ? insertMembers(text, entries) : setMembers(text, edits)
  } catch (error) {
    // Parsing takes deeper values than writing does.
    throw new GatewayError('invalid_json', 'the request body is nested too deeply', { cause: error })
  }
}

function asksForUsage(call: RelayCall, channel: Channel): boolean {
  const streamsChat = call.facts.stream && (call.mode === 'chat' || call.mode === 'completions')
  return streamsChat && !call.facts.wantsStreamUsage && channel.provider.asksForStreamUsage
}

/** The first message's content is replaced if it is a system message; otherwise one is put in front. */
function withSystemPrompt(messages: unknown, prompt: string): unknown[] {
  const list = Array.isArray(messages) ? (messages as unknown[]) : []
  const first = list[0]
  if (isObject(first) && (first['role'] === 'system' || first['role'] === 'developer'))
    return [{ ...first, content: prompt }, ...list.slice(1)]
  return [{ role: 'system', content: prompt }, ...list]
}

/** Reasoning models refuse `max_tokens` (OpenAI API reference, "max_completion_tokens"). */
function capField(json: JsonObject, model: string): string {
  if (typeof json['max_completion_tokens'] === 'number') return 'max_completion_tokens'
  if (typeof json['max_tokens'] === 'number') return 'max_tokens'
  return /^(.*\/)?(o\d|gpt-[5-9])/.test(model) ? 'max_completion_tokens' : 'max_tokens'
}

/** The channel's name for a model. */
export function mappedModel(channel: Channel, model: string): string {
  return channel.modelMapping.get(model) ?? model
}

/** What a provider may know of a call and what it signs with. */
export function targetOf(
  deps: Pick<RelayDeps, 'clock' | 'accessTokens' | 'fetchJson'>,
  endpoint: ChatEndpoint | ModeEndpoint,
  channel: Channel,
  call: UpstreamCall,
  body: Prepared['body'],
): Target | Promise<Target> {
  return endpoint.target(channel.upstream, call, {
    body: typeof body === 'string' ? body : '',
    nowMs: deps.clock.nowMs(),
    tokens: deps.accessTokens,
    fetchJson: deps.fetchJson,
  })
}

/** A call in a provider's terms. */
export function upstreamCallOf({ mode, path, facts }: RelayCall, model: string): UpstreamCall {
  return { mode, path, model, stream: facts.stream }
}

/** Where a call goes at a channel. Throws GatewayError for one that the channel's provider cannot make. */
export function endpointOf(call: RelayCall, channel: Channel, upstreamModel: string): ChatEndpoint | ModeEndpoint {
  const { provider, upstream } = channel
  const endpoint =
    call.mode === 'chat'
      ? chatEndpointFor(provider.chat(upstream, upstreamModel), 'openai-chat')
      : provider.modes[call.mode]
  if (endpoint) return endpoint
  throw new GatewayError('mode_not_supported', `channel type ${provider.meta.label} does not serve ${call.path}`)
}
