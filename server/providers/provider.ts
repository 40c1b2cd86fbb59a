import type { RelayMode } from '../../contract/relay-modes.ts'
import type { DialectName } from '../dialects/neutral/conversation.ts'
import type { EncodeOptions, UpstreamDialect } from '../dialects/neutral/dialect.ts'
import type { Feature } from '../dialects/neutral/needs.ts'
import type { Losable } from '../dialects/wire/dropped-fields.ts'
import type { JsonObject } from '../lib/json.ts'
import type { ProxyServer } from '../lib/network/proxy.ts'

/** The data about a channel type that the channel form and lists show. */
export interface ProviderMeta {
  /** The number in `channels.type`, the same as in one-api. */
  type: number
  /** A unique machine-readable name. */
  name: string
  label: string
  color: string
  /** Used if the channel has no base_url; empty = every channel must have one. */
  defaultBaseUrl: string
  models: readonly string[]
  /** The hint that says what to enter in the key field. */
  keyHint: string
  /** The default value and the label of the field `other`. */
  otherDefault?: string
  otherLabel?: string
}

/** The part of a channel that its provider can see. */
export interface Upstream {
  /** The channel's own base URL or the provider's default, without a trailing slash. */
  baseUrl: string
  key: string
  other: string
  config: Readonly<Record<string, unknown>>
}

/** The part of a call that determines where the call is sent. */
export interface UpstreamCall {
  mode: RelayMode
  /** Path of the OpenAI API for this mode, e.g. `/v1/chat/completions`. */
  path: string
  /** The model name after the channel's mapping. */
  model: string
  /** True if the response should be a stream of events. */
  stream: boolean
  /** Set if the request ends with an incomplete turn that the model must continue. */
  continues?: true
}

/** The URL to which a call is sent, and the headers with its credentials. */
export interface Target {
  url: string
  headers: Readonly<Record<string, string>>
}

/** Temporary upstream tokens that a service issues, kept until shortly before they expire. */
export interface AccessTokens {
  /**
   * Returns the token stored under `name`, or requests a new one with `make`. `make` never runs twice at the same time
   * for a name. `name` must be unique for each service and key. An error thrown by `make` is passed on.
   */
  get(name: string, make: () => Promise<AccessToken>): Promise<string>
}

export interface AccessToken {
  value: string
  /** Expiry time in epoch milliseconds. */
  expiresAtMs: number
}

/** The data that is needed to sign a request, or to get an upstream token for it. */
export interface Signing {
  /** The body as it will be sent; '' if it is a stream. */
  readonly body: string
  readonly nowMs: number
  readonly tokens: AccessTokens
  readonly fetchJson: FetchJson
}

/** One of a provider's endpoints for calls. */
export interface Endpoint {
  /** The target of a call. Throws GatewayError, or rejects with it. */
  target(upstream: Upstream, call: UpstreamCall, signing: Signing): Target | Promise<Target>
  /**
   * Makes a call that is not a single POST, for example over a WebSocket or as a job that is polled until it is done.
   * The response has the same form as after a POST. Rejects with GatewayError. `context.signal` is aborted when the
   * response is no longer needed, for example because the caller has disconnected.
   */
  open?(target: Target, body: string, context: OpenContext): Promise<Response>
  /** Converts a response in another framing to JSON or server-sent events. Not called for error responses (not 2xx). */
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

/** An endpoint for conversations. */
export interface ChatEndpoint extends Endpoint {
  /** The body of a call in this dialect is passed on unchanged if possible. A call in another dialect is translated. */
  readonly dialect: UpstreamDialect
  readonly options?: EncodeOptions
  /**
   * Features that the service does not support. A call that needs one is sent to another channel or, if there is none,
   * refused.
   */
  readonly lacks?: readonly Feature[]
  /**
   * Makes the last changes to a body, translated or not, for a service that deviates from its dialect. Calls `lose` for
   * everything that it drops.
   */
  finish?(body: JsonObject, call: UpstreamCall, lose: (what: Losable) => void): JsonObject
  /** The service stores the conversation of a Messages API thread. */
  readonly keepsThreads?: true
  /**
   * The endpoint at which the service counts the tokens of a request in its dialect, for callers that use that dialect.
   */
  countTarget?(upstream: Upstream, call: UpstreamCall, signing: Signing): Target | Promise<Target>
  /** The service is OpenAI itself, so the headers that Codex sends are forwarded. */
  readonly forwardsCodex?: true
  /**
   * The endpoint at which the service compacts a conversation in its dialect. A service that has it also understands
   * `compaction` items and `compaction_trigger`.
   */
  compactTarget?(upstream: Upstream, call: UpstreamCall, signing: Signing): Target | Promise<Target>
  /** Caller headers that this service understands, in addition to the headers that all services understand. */
  readonly forwards?: readonly string[]
  /**
   * The parts of a caller's headers that the service requires in the body. Called only if the caller uses the dialect
   * of this endpoint.
   */
  headersInBody?(headers: Readonly<Record<string, string>>, model: string): HeadersInBody
  /** How the last turn is marked if the model must continue it; absent = the service has no such mark. */
  readonly continues?: ContinuedTurn
  /** Unlike Anthropic itself, the service accepts reasoning that it did not sign. */
  readonly takesUnsignedThoughts?: true
  /** The service accepts system messages anywhere in a conversation; absent = only at its start. */
  readonly takesSystemAnywhere?: true
  /**
   * The service does not open URLs, so images and files that the caller sends as URLs are fetched and sent as bytes.
   */
  readonly wantsBytes?: true
}

/** The field that marks a turn of the model as incomplete. */
export type ContinuedTurn = 'prefix' | 'partial'

/** Body fields that replace headers, and the names of the values that the service does not accept. */
export interface HeadersInBody {
  readonly members: JsonObject
  readonly dropped: readonly string[]
}

/** An endpoint for a kind of call other than conversations. The caller always uses OpenAI's format. */
export interface ModeEndpoint extends Endpoint {
  /** Absent = the service uses OpenAI's format, and the caller's bytes are passed on. */
  readonly translation?: ModeTranslation
}

/**
 * Translates a request from OpenAI's format to the service's, and the response back. Both methods throw GatewayError.
 * Its status is 400 for a request that cannot be translated.
 */
export interface ModeTranslation {
  request(body: JsonObject, call: UpstreamCall): JsonObject
  /**
   * Returns the response in OpenAI's format. `request` is the caller's request. A response with the field `error`
   * (OpenAI's error object) is a failure.
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
 * An upstream service: its metadata, and an endpoint for each kind of call that it supports. If an endpoint is absent,
 * the service does not support that kind of call.
 */
export interface Provider {
  readonly meta: ProviderMeta
  /** Describes what is wrong with a key's format; undefined if the format is right. Absent = any key is valid. */
  readonly keyFault?: (key: string) => string | undefined
  /** Endpoints for every kind of call except conversations. */
  readonly modes: Partial<Record<Exclude<RelayMode, 'chat'>, ModeEndpoint>>
  /**
   * A caller can choose a channel of this provider by the channel's id, if it may use the channel's group and the
   * model.
   */
  readonly byNumber?: true
  /**
   * The endpoints for conversations with a model, one per dialect. The first is used for callers of a dialect that is
   * not in the list.
   */
  chat(upstream: Upstream, model: string): readonly ChatEndpoint[]
  /** Returns the URL and credentials for WebSocket sessions with a model. Absent = the service has no such sessions. */
  readonly realtime?: (upstream: Upstream, model: string) => Target
  /** False if the service refuses `stream_options` or reports usage in every stream anyway. */
  readonly asksForStreamUsage: boolean
  /**
   * The service adds its own text to a prompt (a bot's instructions or the contents of a knowledge base) and charges
   * for it.
   */
  readonly addsToPrompt?: true
  /**
   * Reads the remaining balance at the service, in the service's own currency. Absent = the service does not report it.
   */
  readonly balance?: (upstream: Upstream, fetchJson: FetchJson, nowMs: number) => Promise<number>
  /** Reads the service's list of models. Absent = the service has no list. */
  readonly listModels?: (upstream: Upstream, fetchJson: FetchJson, nowMs: number) => Promise<string[]>
}

/** The endpoint for callers that use a dialect: the one with the same dialect or, if there is none, the first. */
export function chatEndpointFor(endpoints: readonly ChatEndpoint[], dialect: DialectName): ChatEndpoint | undefined {
  return endpoints.find((each) => each.dialect.name === dialect) ?? endpoints[0]
}
