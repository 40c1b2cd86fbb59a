import type { RelayMode } from '../../contract/relay-modes.ts'
import type { DialectName } from '../dialects/neutral/conversation.ts'
import type { EncodeOptions, UpstreamDialect } from '../dialects/neutral/dialect.ts'
import type { Feature } from '../dialects/neutral/needs.ts'
import type { Losable } from '../dialects/wire/dropped-fields.ts'
import type { JsonObject } from '../lib/json.ts'

/** What the channel form and lists show of a channel type. */
export interface ProviderMeta {
  /** `channels.type`; the numbers are one-api's. */
  type: number
  /** Machine name, unique. */
  name: string
  label: string
  color: string
  /** Used when the channel has no base_url; empty = the channel must have one. */
  defaultBaseUrl: string
  models: readonly string[]
  /** What to type into the key field. */
  keyHint: string
  /** Value of `other` when it is left empty, and what it is. */
  otherDefault?: string
  otherLabel?: string
}

/** The part of a channel that a provider may know. */
export interface Upstream {
  /** Without final slash; the channel's own or the provider's default. */
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
  /** The answer is to come in events. */
  stream: boolean
}

/** Where to send a call, and with which credentials. */
export interface Target {
  url: string
  headers: Readonly<Record<string, string>>
}

/** Keys to a service that it gives out for a time, kept until shortly before they expire. */
export interface AccessTokens {
  /**
   * The token kept under `name`, or a new one by `make`, which is never run twice at a time. `name` must tell apart
   * services and keys. What `make` throws is thrown.
   */
  get(name: string, make: () => Promise<AccessToken>): Promise<string>
}

export interface AccessToken {
  value: string
  /** Milliseconds of the clock. */
  expiresAtMs: number
}

/** What it takes to sign a request or to fetch the right to make it. */
export interface Signing {
  /** The body as it will be sent; '' where it is a stream. */
  readonly body: string
  readonly nowMs: number
  readonly tokens: AccessTokens
  readonly fetchJson: FetchJson
}

/** One place at a provider that answers calls. */
export interface Endpoint {
  /** Throws GatewayError, also by its promise. */
  target(upstream: Upstream, call: UpstreamCall, signing: Signing): Target | Promise<Target>
  /**
   * Makes the call in another way than by one POST (a WebSocket, a job that is asked for until it is done); the answer
   * is like that of a POST. Rejects with GatewayError. `signal` is aborted when nobody waits any longer.
   */
  open?(target: Target, body: string, context: OpenContext): Promise<Response>
  /** An answer in another framing than JSON or server-sent events → one of these. Errors (not 2xx) are not passed through it. */
  read?(response: Response, call: UpstreamCall): Response
}

/** What `open` works with. */
export interface OpenContext {
  readonly call: UpstreamCall
  readonly upstream: Upstream
  readonly signal: AbortSignal
  readonly fetchJson: FetchJson
  /** Rejects for an address that must not be called. */
  check(url: string): Promise<void>
}

/** A place that answers conversations. */
export interface ChatEndpoint extends Endpoint {
  /** A caller of the same dialect is passed through byte by byte; others are translated. */
  readonly dialect: UpstreamDialect
  readonly options?: EncodeOptions
  /** Calls that need one of these are refused, or go to another channel. */
  readonly lacks?: readonly Feature[]
  /**
   * The last change to a body, translated or not, for a service that differs from its dialect; `lose` is told what is not
   * said in it any more.
   */
  finish?(body: JsonObject, call: UpstreamCall, lose: (what: Losable) => void): JsonObject
  /** The service keeps the conversation of a thread of the Messages API. */
  readonly keepsThreads?: true
  /** Where the service counts the tokens of a request in its dialect, for callers who speak it. */
  countTarget?(upstream: Upstream, call: UpstreamCall, signing: Signing): Target | Promise<Target>
  /** Headers of the caller that this service understands, beside those that all do. */
  readonly forwards?: readonly string[]
  /** What the service wants of the headers of a caller of its dialect in the body. */
  headersInBody?(headers: Readonly<Record<string, string>>, model: string): HeadersInBody
  /** The service takes back thoughts that it has not signed, as Anthropic itself does not. */
  readonly takesUnsignedThoughts?: true
  /** Words of the system may stand anywhere in a conversation; absent = at its beginning alone. */
  readonly takesSystemAnywhere?: true
  /** The service opens no addresses: images and files that the caller names by URL are fetched and sent as bytes. */
  readonly wantsBytes?: true
}

/** Members of a body that stand for headers, and the names of what the service does not take. */
export interface HeadersInBody {
  readonly members: JsonObject
  readonly dropped: readonly string[]
}

/** A place that answers another kind of call; the caller's side is always OpenAI's form. */
export interface ModeEndpoint extends Endpoint {
  /** Absent = the service speaks OpenAI's form and the caller's bytes pass through. */
  readonly translation?: ModeTranslation
}

/** OpenAI's form of a call → the service's and back. Both throw GatewayError (400 for a request that cannot be made). */
export interface ModeTranslation {
  request(body: JsonObject, call: UpstreamCall): JsonObject
  /** The whole answer to what the caller `asked`. An object with `error` (OpenAI's error object) is a failure. */
  reply(answer: JsonObject, call: UpstreamCall, asked: JsonObject): JsonObject
}

/**
 * Reads a JSON object from an address of the upstream, by POST where there is a body; throws GatewayError with a text
 * for the admin who asked.
 */
export type FetchJson = (
  url: string,
  headers: Readonly<Record<string, string>>,
  post?: { readonly body: string },
) => Promise<JsonObject>

/** An upstream service: meta data, and an endpoint for each kind of call it serves; absent = not supported. */
export interface Provider {
  readonly meta: ProviderMeta
  /** Says what is wrong with a key's form, or undefined. Absent = every key will do. */
  readonly keyFault?: (key: string) => string | undefined
  /** Every kind of call but conversations. */
  readonly modes: Partial<Record<Exclude<RelayMode, 'chat'>, ModeEndpoint>>
  /** Its channels are also reached by their number, by everybody whom their groups and models allow. */
  readonly byNumber?: true
  /** Where conversations with a model go: one endpoint per dialect, the best for callers of other dialects first. */
  chat(upstream: Upstream, model: string): readonly ChatEndpoint[]
  /** Where sessions with a model are opened by WebSocket, and with which credentials. Absent = there are none. */
  readonly realtime?: (upstream: Upstream, model: string) => Target
  /** False where the service refuses `stream_options` or reports usage in every stream without being asked. */
  readonly asksForStreamUsage: boolean
  /** The service adds texts of its own to a prompt, a bot's instructions or what a knowledge base holds, and charges for them. */
  readonly addsToPrompt?: true
  /** What is left at the service, in its own currency. Absent = it cannot be asked. */
  readonly balance?: (upstream: Upstream, fetchJson: FetchJson, nowMs: number) => Promise<number>
  /** The models that the service says it has. Absent = it cannot be asked. */
  readonly listModels?: (upstream: Upstream, fetchJson: FetchJson, nowMs: number) => Promise<string[]>
}

/** The endpoint for callers of a dialect: the one that speaks it, else the first. */
export function chatEndpointFor(endpoints: readonly ChatEndpoint[], dialect: DialectName): ChatEndpoint | undefined {
  return endpoints.find((each) => each.dialect.name === dialect) ?? endpoints[0]
}
