import type { RelayMode } from '../../contract/relay-modes.ts'
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
}

/** Where to send a call, and with which credentials. */
export interface Target {
  url: string
  headers: Readonly<Record<string, string>>
}

/** One kind of call at one provider. */
export interface Endpoint {
  /** The wire format spoken there. */
  dialect: 'openai'
  target(upstream: Upstream, call: UpstreamCall): Target
}

/** Reads a JSON object from an address of the upstream; throws GatewayError with a text for the admin who asked. */
export type FetchJson = (url: string, headers: Readonly<Record<string, string>>) => Promise<JsonObject>

/** An upstream service: meta data, and an endpoint for each kind of call it serves; absent = not supported. */
export interface Provider {
  readonly meta: ProviderMeta
  readonly modes: Partial<Record<RelayMode, Endpoint>>
  /** False where the service refuses `stream_options` or reports usage in every stream without being asked. */
  readonly asksForStreamUsage: boolean
  /** What is left at the service, in its own currency. Absent = it cannot be asked. */
  readonly balance?: (upstream: Upstream, fetchJson: FetchJson, nowMs: number) => Promise<number>
  /** The models that the service says it has. Absent = it cannot be asked. */
  readonly listModels?: (upstream: Upstream, fetchJson: FetchJson) => Promise<string[]>
}
