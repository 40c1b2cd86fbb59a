import type { RelayMode } from '../../contract/relay-modes.ts'
import type { DialectName } from '../dialects/neutral/conversation.ts'
import type { EncodeOptions, UpstreamDialect } from '../dialects/neutral/dialect.ts'
import type { Feature } from '../dialects/neutral/needs.ts'
import type { Losable } from '../dialects/wire/dropped-fields.ts'
import type { JsonObject } from '../lib/json.ts'

/** What the channel form and lists show for a channel type. */
export interface ProviderMeta {
  /** `channels.type`; the numbers are one-api's. */
  type: number
  /** Machine name, unique. */
  name: string
  label: string
  color: string
  /** Used if the channel has no base_url; empty = the channel must have one. */
  defaultBaseUrl: string
  models: readonly string[]
  /** What to type into the key field. */
  keyHint: string
  /** The default of `other`, and its label. */
  otherDefault?: string
  otherLabel?: string
}

/** The part of a channel that a provider may see. */
export interface Upstream {
  /** Without a trailing slash; the channel's own or the provider's default. */
  baseUrl: string
  key: string
  other: string
  config: Readonly<Record<string, unknown>>
}

/** The part of a call that decides where it goes. */
export interface UpstreamCall {
  mode: RelayMode
  /** Path of the OpenAI API for this mode, e.g. `/v1/chat/completions`. */
  path: string
  /** Model name after the channel's mapping. */
  model: string
  /** The answer should be a stream of events. */
  stream: boolean
}

/** Where to send a call, and with which credentials. */
export interface Target {
  url: string
  headers: Readonly<Record<string, string>>
}

/** Temporary upstream tokens that a service gives out, kept until shortly before they expire. */
export interface AccessTokens {
  /**
   * The token kept under `name`, or a new one from `make`, which never runs twice at the same time. `name` must be
   * unique for each service and key. An error thrown by `make` is passed on.
   */
  get(name: string, make: () => Promise<AccessToken>): Promise<string>
}

export interface AccessToken {
  value: string
  /** Milliseconds on the clock. */
  expiresAtMs: number
}

/** What is needed to sign a request or to get permission to make it. */
export interface Signing {
  /** The body as it will be sent; '' if it is a stream. */
  readonly body: string
  readonly nowMs: number
  readonly tokens: AccessTokens
  readonly fetchJson: FetchJson
}

/** One endpoint of a provider that answers calls. */
export interface Endpoint {
  /** Throws GatewayError, or rejects with it. */
  target(upstream: Upstream, call: UpstreamCall, signing: Signing): Target | Promise<Target>
  /**
   * Makes the call in some other way than one POST (a WebSocket, a job that is polled until it is done); the answer is
   * like that of a POST. Rejects with GatewayError. `signal` is aborted when nobody waits any longer.
   */
  open?(target: Target, body: string, context: OpenContext): Promise<Response>
  /**
   * Converts an answer in another framing to JSON or server-sent events. Errors (not 2xx) are not passed through it.
   */
  read?(response: Response, call: UpstreamCall): Response
}

/** The context for `open`. */
export interface OpenContext {
  readonly call: UpstreamCall
  readonly upstream: Upstream
  readonly signal: AbortSignal
  readonly fetchJson: FetchJson
  /** Rejects for a URL that must not be called. */
  check(url: string): Promise<void>
}

/** An endpoint that answers conversations. */
export interface ChatEndpoint extends Endpoint {
  /** Calls in the same dialect are passed through byte by byte; others are translated. */
  readonly dialect: UpstreamDialect
  readonly options?: EncodeOptions
  /** Calls that need one of these features are refused, or go to another channel. */
  readonly lacks?: readonly Feature[]
  /**
   * The last change to a body, translated or not, for a service that differs from its dialect; it calls `lose` for
   * everything it drops.
   */
  finish?(body: JsonObject, call: UpstreamCall, lose: (what: Losable) => void): JsonObject
  /** The service stores the conversation of a Messages API thread. */
  readonly keepsThreads?: true
  /** Where the service counts the tokens of a request in its dialect, for callers of that dialect. */
  countTarget?(upstream: Upstream, call: UpstreamCall, signing: Signing): Target | Promise<Target>
  /** Caller headers that this service understands, besides those that all services do. */
  readonly forwards?: readonly string[]
  /** The parts of a same-dialect caller's headers that the service requires in the body. */
  headersInBody?(headers: Readonly<Record<string, string>>, model: string): HeadersInBody
  /** The service accepts thoughts back that it did not sign, unlike Anthropic itself. */
  readonly takesUnsignedThoughts?: true
  /** System messages may be anywhere in a conversation; absent = only at its start. */
  readonly takesSystemAnywhere?: true
  /** The service opens no URLs: images and files that the caller names by URL are fetched and sent as bytes. */
  readonly wantsBytes?: true
}

/** Body fields that replace headers, and the names of the values that the service does not accept. */
export interface HeadersInBody {
  readonly members: JsonObject
  readonly dropped: readonly string[]
}

/** An endpoint for another kind of call; the caller's side is always in OpenAI's form. */
export interface ModeEndpoint extends Endpoint {
  /** Absent = the service speaks OpenAI's form and the caller's bytes pass through. */
  readonly translation?: ModeTranslation
}

/**
 * Translates a call from OpenAI's form to the service's and back. Both throw GatewayError (400 for a request that
 * cannot be made).
 */
export interface ModeTranslation {
  request(body: JsonObject, call: UpstreamCall): JsonObject
  /** The whole answer to the caller's `request`. An object with `error` (OpenAI's error object) is a failure. */
  reply(answer: JsonObject, call: UpstreamCall, request: JsonObject): JsonObject
}

/**
 * Reads a JSON object from a URL of the upstream, by POST if there is a body; throws GatewayError with a text for the
 * admin who asked.
 */
export type FetchJson = (
  url: string,
  headers: Readonly<Record<string, string>>,
  post?: { readonly body: string },
) => Promise<JsonObject>

/** An upstream service: metadata, and an endpoint for each kind of call it serves; absent = not supported. */
export interface Provider {
  readonly meta: ProviderMeta
  /** Says what is wrong with a key's form, or undefined. Absent = any key is valid. */
  readonly keyFault?: (key: string) => string | undefined
  /** Every kind of call except conversations. */
  readonly modes: Partial<Record<Exclude<RelayMode, 'chat'>, ModeEndpoint>>
  /** Its channels can also be called by number, by anyone whose groups and models allow it. */
  readonly byNumber?: true
  /** The endpoints for conversations with a model: one per dialect, the best for callers of other dialects first. */
  chat(upstream: Upstream, model: string): readonly ChatEndpoint[]
  /** The URL and credentials for WebSocket sessions with a model. Absent = the service has none. */
  readonly realtime?: (upstream: Upstream, model: string) => Target
  /** False if the service refuses `stream_options` or reports usage in every stream without being asked. */
  readonly asksForStreamUsage: boolean
  /**
   * The service adds its own texts to a prompt (a bot's instructions or the contents of a knowledge base) and charges
   * for them.
   */
  readonly addsToPrompt?: true
  /** The remaining balance at the service, in its own currency. Absent = it cannot be asked. */
  readonly balance?: (upstream: Upstream, fetchJson: FetchJson, nowMs: number) => Promise<number>
  /** The models that the service lists. Absent = it cannot be asked. */
  readonly listModels?: (upstream: Upstream, fetchJson: FetchJson, nowMs: number) => Promise<string[]>
}

/** The endpoint for callers of a dialect: the one that speaks it, or else the first. */
export function chatEndpointFor(endpoints: readonly ChatEndpoint[], dialect: DialectName): ChatEndpoint | undefined {
  return endpoints.find((each) => each.dialect.name === dialect) ?? endpoints[0]
}
