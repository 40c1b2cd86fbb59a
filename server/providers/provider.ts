import type { RelayMode } from '../../contract/relay-modes.ts'
import type { DialectName } from '../dialects/neutral/conversation.ts'
import type { EncodeOptions, UpstreamDialect } from '../dialects/neutral/dialect.ts'
import type { Feature } from '../dialects/neutral/needs.ts'
import type { Losable } from '../dialects/wire/dropped-fields.ts'
import type { JsonObject } from '../lib/json.ts'
import type { ProxyServer } from '../lib/network/proxy.ts'

/** What the channel form and lists show for a channel type. */
export interface ProviderMeta {
  /** `channels.type`; the numbers are one-api's. */
  type: number
  /** A unique machine-readable name. */
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

/** The part of a channel that a provider is allowed to see. */
export interface Upstream {
  /** Without a trailing slash; the channel's own or the provider's default. */
  baseUrl: string
  key: string
  other: string
  config: Readonly<Record<string, unknown>>
}

/** The part of a call that decides where the call is sent. */
export interface UpstreamCall {
  mode: RelayMode
  /** Path of the OpenAI API for this mode, e.g. `/v1/chat/completions`. */
  path: string
  /** Model name after the channel's mapping. */
  model: string
  /** The response should be a stream of events. */
  stream: boolean
  /** The request ends with a turn of the model that is to be continued. */
  continues?: true
}

/** Where to send a call, and with which credentials. */
export interface Target {
  url: string
  headers: Readonly<Record<string, string>>
}

/** Temporary upstream tokens that a service issues, kept until shortly before they expire. */
export interface AccessTokens {
  /**
   * The token kept under `name`, or a new one from `make`, which never runs twice at the same time. `name` must be
   * unique for each service and key. An error thrown by `make` is passed on.
   */
  get(name: string, make: () => Promise<AccessToken>): Promise<string>
}

export interface AccessToken {
  value: string
  /** Expiry time in epoch milliseconds. */
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

/** One of a provider's endpoints for calls. */
export interface Endpoint {
  /** Throws GatewayError, or rejects with it. */
  target(upstream: Upstream, call: UpstreamCall, signing: Signing): Target | Promise<Target>
  /**
   * Makes the call in some other way than one POST (a WebSocket, a job that is polled until it is done); the response
   * is like that of a POST. Rejects with GatewayError. `signal` is aborted when nobody is waiting for the response any
   * longer.
   */
  open?(target: Target, body: string, context: OpenContext): Promise<Response>
  /**
   * Converts a response in another framing to JSON or server-sent events. Error responses (not 2xx) are not passed to
   * it.
   */
  read?(response: Response, call: UpstreamCall): Response
}

/** The context for `open`. */
export interface OpenContext {
  readonly call: UpstreamCall
  readonly upstream: Upstream
  readonly signal: AbortSignal
  readonly fetchJson: FetchJson
  /** The proxy that every connection of the call must go through. */
  readonly proxy: ProxyServer | undefined
  /** Rejects for a URL that must not be called. */
  check(url: string): Promise<void>
}

/** An endpoint that answers conversations. */
export interface ChatEndpoint extends Endpoint {
  /** Calls in the same dialect are passed through byte by byte; others are translated. */
  readonly dialect: UpstreamDialect
  readonly options?: EncodeOptions
  /** Calls that need one of these features are refused, or are sent to another channel. */
  readonly lacks?: readonly Feature[]
  /**
   * The last change to a body, translated or not, for a service that differs from its dialect. It calls `lose` for
   * everything that it drops.
   */
  finish?(body: JsonObject, call: UpstreamCall, lose: (what: Losable) => void): JsonObject
  /** The service stores the conversation of a Messages API thread. */
  readonly keepsThreads?: true
  /**
   * The endpoint at which the service counts the tokens of a request in its dialect, for callers that use that dialect.
   */
  countTarget?(upstream: Upstream, call: UpstreamCall, signing: Signing): Target | Promise<Target>
  /** The service is OpenAI itself, which understands the headers of Codex. */
  readonly forwardsCodex?: true
  /**
   * The endpoint at which the service compacts a conversation in its dialect. A service that has it also understands
   * `compaction` items and `compaction_trigger`.
   */
  compactTarget?(upstream: Upstream, call: UpstreamCall, signing: Signing): Target | Promise<Target>
  /** Caller headers that this service understands, in addition to the headers that all services understand. */
  readonly forwards?: readonly string[]
  /** The parts of a caller's headers that the service requires in the body. Used for callers of the same dialect. */
  headersInBody?(headers: Readonly<Record<string, string>>, model: string): HeadersInBody
  /** How the last turn is marked if the model is to continue it; absent = the service has no such mark. */
  readonly continues?: ContinuedTurn
  /** Unlike Anthropic itself, the service accepts thoughts that it did not sign. */
  readonly takesUnsignedThoughts?: true
  /** System messages may be anywhere in a conversation; absent = only at its start. */
  readonly takesSystemAnywhere?: true
  /**
   * The service does not open URLs, so images and files that the caller sends as URLs are fetched and sent as bytes.
   */
  readonly wantsBytes?: true
}

/** The field that marks a turn of the model as begun and not finished. */
export type ContinuedTurn = 'prefix' | 'partial'

/** Body fields that replace headers, and the names of the values that the service does not accept. */
export interface HeadersInBody {
  readonly members: JsonObject
  readonly dropped: readonly string[]
}

/** An endpoint for another kind of call. The caller always uses OpenAI's format. */
export interface ModeEndpoint extends Endpoint {
  /** Absent = the service uses OpenAI's format, and the caller's bytes are passed through. */
  readonly translation?: ModeTranslation
}

/**
 * Translates a call from OpenAI's format to the service's and back. Both methods throw GatewayError (400 for a request
 * that cannot be made).
 */
export interface ModeTranslation {
  request(body: JsonObject, call: UpstreamCall): JsonObject
  /**
   * Returns the complete response to the caller's `request`. An object with `error` (OpenAI's error object) is a
   * failure.
   */
  reply(answer: JsonObject, call: UpstreamCall, request: JsonObject): JsonObject
}

/**
 * Reads a JSON object from a URL of the upstream, with a POST request if there is a body. Throws GatewayError with a
 * text for the admin who made the request.
 */
export type FetchJson = (
  url: string,
  headers: Readonly<Record<string, string>>,
  post?: { readonly body: string },
) => Promise<JsonObject>

/**
 * An upstream service: its metadata, and an endpoint for each kind of call that it serves. An absent endpoint means
 * that the kind is not supported.
 */
export interface Provider {
  readonly meta: ProviderMeta
  /** Describes what is wrong with a key's format; undefined if the format is right. Absent = any key is valid. */
  readonly keyFault?: (key: string) => string | undefined
  /** Endpoints for every kind of call except conversations. */
  readonly modes: Partial<Record<Exclude<RelayMode, 'chat'>, ModeEndpoint>>
  /** Channels of this provider can also be called by their number, by any caller whose groups and models allow it. */
  readonly byNumber?: true
  /**
   * The endpoints for conversations with a model, one per dialect. The first is the best for callers of other dialects.
   */
  chat(upstream: Upstream, model: string): readonly ChatEndpoint[]
  /** The URL and credentials for WebSocket sessions with a model. Absent = the service has no such sessions. */
  readonly realtime?: (upstream: Upstream, model: string) => Target
  /** False if the service refuses `stream_options` or reports usage in every stream anyway. */
  readonly asksForStreamUsage: boolean
  /**
   * The service adds its own text to a prompt (a bot's instructions or the contents of a knowledge base) and charges
   * for it.
   */
  readonly addsToPrompt?: true
  /** The remaining balance at the service, in the service's own currency. Absent = the service does not report it. */
  readonly balance?: (upstream: Upstream, fetchJson: FetchJson, nowMs: number) => Promise<number>
  /** The models that the service lists. Absent = the service has no list. */
  readonly listModels?: (upstream: Upstream, fetchJson: FetchJson, nowMs: number) => Promise<string[]>
}

/** The endpoint for callers that use a dialect: the one with the same dialect, or else the first. */
export function chatEndpointFor(endpoints: readonly ChatEndpoint[], dialect: DialectName): ChatEndpoint | undefined {
  return endpoints.find((each) => each.dialect.name === dialect) ?? endpoints[0]
}
