import type { Usage } from '../../../contract/usage.ts'
import type { JsonObject } from '../../lib/json.ts'
import type { Conversation, DialectName } from './conversation.ts'
import type { Failure, Reply, StreamEvent } from './reply.ts'
import type { ToolRules } from './tool-rules.ts'

/** Tokens of the sound and of the images in an answer, as counted where the upstream tells none. */
export interface MediaTokens {
  readonly audio: number
  readonly images: number
}

/** What a prompt consists of, for counting its tokens: texts, and tokens of everything that is not text. */
export interface PromptText {
  texts: readonly string[]
  fixedTokens: number
  /** Images, sound or files are among it, of which nobody can tell from the request how many tokens they make. */
  hasMedia?: boolean
  /** A file, sound or video by address or id, or an earlier conversation, is part of it: as long as the model can read. */
  isOpenEnded?: boolean
}

/** What the gateway must know of a request, whatever its dialect. */
export interface RequestFacts {
  model: string
  stream: boolean
  /** The caller asked for a usage chunk at the end of the stream. */
  wantsStreamUsage: boolean
  /** Most completion tokens asked for, per choice; undefined = left to the model. */
  maxTokens: number | undefined
  /** The model is asked to think, of which a stream may show less than is charged. */
  asksToReason?: boolean
  /** What the answer may be made of, in lower case: text, audio, image; absent = left to the model. */
  outputs?: readonly string[]
  /** The service tier that is asked for, in lower case, where it is not the usual one. */
  tier?: string
  /** How many completions are generated (and paid for). */
  choices: number
  prompt: PromptText
}

/** What one event of a stream means to the gateway. */
export type StreamSignal =
  | 'content'
  /** Carries usage and nothing else: withheld from a caller who did not ask for it. */
  | 'usage-only'
  /** The dialect's proper end. */
  | 'done'
  /** The upstream reports an error within the stream. */
  | 'error'
  /** Not decodable, and left out: the answer may go on without it. */
  | 'skip'
  /** Not decodable. */
  | 'garbage'

/** Follows one stream in one dialect: feed it the data of every event, in order. */
export interface StreamMeter {
  /**
   * Takes the events from `from` on that differ from one that was fed only in what they say, and returns where the
   * first stands that must be fed. `text` holds whole events without CR.
   */
  skim(text: string, from: number): number
  feed(data: string): StreamSignal
  /** The last usage the upstream reported, raw. */
  readonly usage: JsonObject | undefined
  /** The same where it has been read already. */
  readonly reported?: Usage | undefined
  /** It came with the answer's head, before anything was generated. */
  readonly isReportEarly?: boolean
  /** False while nothing of the answer has come but its head, empty texts or what filters found; absent = every event says something. */
  readonly speaks?: boolean
  /** Everything generated so far that would be charged: text, tool calls, reasoning. */
  output(): string
  /** Events with content so far: each carries about a token or more. */
  readonly pieces: number
  /** Characters generated so far. */
  readonly characters: number
  /** Bytes of them in UTF-8 beyond one for each. */
  readonly extraBytes: number
  /** Sound and images of a conversation so far; absent = none came. They are no characters. */
  readonly media?: MediaTokens | undefined
  /** What the caller's client expects at the end where the upstream leaves it out; '' = nothing. */
  readonly endMark: string
  /** Whole images that have come; absent = the dialect has none. */
  readonly images?: number
  /** False once something came that may hold images in a form that is not known. */
  readonly tellsImages?: boolean
  /** The answer is complete even if the end mark never comes. */
  readonly finished: boolean
  /** The text or call that began last is whole, where the dialect tells that before the end of the answer. */
  readonly answered?: boolean
  /** Data to be sent in place of the last that was fed, where that would mislead programs; absent = as it came. */
  readonly instead?: string | undefined
  /** Events that could not be read and were left out. */
  readonly leftOut: number
  /** The error the upstream reported within the stream. */
  readonly error: JsonObject | undefined
  /** The same where it has been read already. */
  readonly failure?: Failure | undefined
  /** The events by which a caller of the same dialect is told that the stream breaks off here; '' where there is no such form. */
  failedEnd?(failure: Failure, requestId: string): string
}

/** What of a request stands in its address and not in its body. */
export interface RequestAddress {
  readonly model?: string
  readonly stream?: boolean
  /** Only the tokens are to be counted: what limits the answer may be missing. */
  readonly countOnly?: boolean
}

/** What is known of an upstream that its dialect alone does not say. */
export interface EncodeOptions {
  /** Most tokens of the answer where the caller named none and the dialect must; default: as many as the model's kind makes. */
  readonly defaultMaxTokens?: number
  /** OpenAI's chat: the service takes cache marks as `cache_control`. */
  readonly cacheControl?: boolean
  /** OpenAI's chat: the service takes tools whose input is free text. */
  readonly freeformTools?: boolean
  /** OpenAI's chat: models that think refuse `max_tokens` for `max_completion_tokens`. */
  readonly wantsNewLimit?: boolean
  /** OpenAI's chat: `web_search_options` is understood whatever the model. */
  readonly webSearch?: boolean
  /** Ids of calls and names of tools as this service takes them, where it differs from others of its dialect. */
  readonly toolRules?: ToolRules
  /** OpenAI's chat: `metadata` is refused, always or but for answers that are to be kept (`store`). */
  readonly refusesMetadata?: 'always' | 'unstored'
  /** OpenAI's chat: how the service takes back what its model thought in earlier turns; absent = not at all. */
  readonly reasoningField?: 'reasoning_content' | 'reasoning_details'
}

/** A request in an upstream's dialect, and the names of what it could not say. */
export interface EncodedRequest {
  readonly body: JsonObject
  readonly dropped: readonly string[]
}

/** What an answer to a caller is written with. */
export interface Frame {
  /** Unique among answers; names answer and parts where the upstream does not, or not in the caller's form. */
  readonly id: string
  /** The model the caller asked for. */
  readonly model: string
  readonly createdAtSeconds: number
  /** The time, for answers that tell when they were complete. */
  readonly nowSeconds: () => number
  /** The prompt as far as it can be told before the upstream does; absent = nobody has counted. */
  readonly promptTokens?: number
  readonly request: Conversation
}

/**
 * Follows one upstream stream. Fed with the data of every event, in order. Says `unreadableEvent` of what cannot be read, and
 * may be fed on after it.
 */
export interface StreamDecoder {
  push(data: string): StreamEvent[]
  /** No more comes: the end where the answer is complete without one, else an error. */
  finish(): StreamEvent[]
  /** The events by which a caller of the same dialect is told that the stream breaks off here; '' where there is no such form. */
  failedEnd?(failure: Failure, requestId: string): string
}

/** Writes one stream for a caller: every event becomes none, one or several events of its dialect. */
export interface StreamEncoder {
  push(event: StreamEvent): string
}

/** One wire format as an upstream speaks it. Pure: no clock, no random numbers, no network. */
export interface UpstreamDialect {
  /** One of the callers' dialects, or a name of its own for a format that no caller speaks. */
  readonly name: DialectName | (string & {})
  /** The request for an upstream. Throws GatewayError (400) for what cannot be left out and cannot be said. */
  encodeRequest(conversation: Conversation, options?: EncodeOptions): EncodedRequest
  /** An upstream's whole answer, read loosely. `idSeed` makes ids where the dialect has none. */
  decodeReply(wire: JsonObject, idSeed: string): Reply
  streamDecoder(idSeed: string): StreamDecoder
  /** Ids of calls and names of tools as it takes them; absent = as OpenAI's chat does. */
  readonly toolRules?: ToolRules
  /** Its streams have no last event of their own: an answer is whole when every choice gave its reason to stop. */
  readonly endsByReason?: true
  /** The service bills what it is asked alone, so that an answer without completion tokens is no mistake. */
  readonly billsPromptAlone?: true
  /** The error in an upstream's error body, whatever its form. */
  decodeFailure(status: number, body: unknown): Failure
  /** The error in an answer that came with status 200; undefined when it is an answer. */
  failureWithin?(wire: JsonObject): Failure | undefined
}

/** One wire format, both ways. */
export interface Dialect extends UpstreamDialect {
  readonly name: DialectName
  readonly toolRules: ToolRules
  /** A caller's request. Throws GatewayError (400) with the place of the field at fault. */
  decodeRequest(wire: JsonObject, address?: RequestAddress): Conversation
  encodeReply(reply: Reply, frame: Frame): JsonObject
  streamEncoder(frame: Frame): StreamEncoder
  encodeFailure(failure: Failure, requestId: string): JsonObject
}
