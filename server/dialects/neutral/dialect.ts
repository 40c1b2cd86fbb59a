import type { Usage } from '../../../contract/usage.ts'
import type { JsonObject } from '../../lib/json.ts'
import type { Conversation, DialectName } from './conversation.ts'
import type { Failure, Reply, StreamEvent } from './reply.ts'
import type { ToolRules } from './tool-rules.ts'

/** Tokens of the audio and of the images in an answer, as we count them if the upstream reports none. */
export interface MediaTokens {
  readonly audio: number
  readonly images: number
}

/** The contents of a prompt, for counting its tokens: texts, and tokens of everything that is not text. */
export interface PromptText {
  texts: readonly string[]
  fixedTokens: number
  /** It contains images, audio or files, whose tokens cannot be known from the request. */
  hasMedia?: boolean
  /**
   * It contains a file, audio or video by URL or id, or an earlier conversation: it may be as long as the model can
   * read.
   */
  isOpenEnded?: boolean
}

/** What the gateway must know about a request in any dialect. */
export interface RequestFacts {
  model: string
  stream: boolean
  /** The caller asked for a usage chunk at the end of the stream. */
  wantsStreamUsage: boolean
  /** The most completion tokens requested, per choice; undefined = the model decides. */
  maxTokens: number | undefined
  /** The model is asked to think; a stream may show less of that than is charged. */
  asksToReason?: boolean
  /** The modalities that the answer may have, in lower case: text, audio, image; absent = the model decides. */
  outputs?: readonly string[]
  /** The requested service tier, in lower case, unless it is the default. */
  tier?: string
  /** How many completions are generated (and charged). */
  choices: number
  prompt: PromptText
}

/** What one event of a stream means to the gateway. */
export type StreamSignal =
  | 'content'
  /** Carries only usage: withheld from a caller who did not ask for it. */
  | 'usage-only'
  /** The dialect's proper end. */
  | 'done'
  /** The upstream reports an error within the stream. */
  | 'error'
  /** Not decodable, and skipped: the answer may continue without it. */
  | 'skip'
  /** Not decodable. */
  | 'garbage'

/** Follows one stream in one dialect: feed it the data of every event, in order. */
export interface StreamMeter {
  /**
   * Reads events from `from` on without parsing, as long as they differ only in their text from one that was fed.
   * Returns the position of the first event that must be fed. `text` holds whole events without CR.
   */
  skim(text: string, from: number): number
  feed(data: string): StreamSignal
  /** The last usage the upstream reported, raw. */
  readonly usage: JsonObject | undefined
  /** The same, if it has already been read. */
  readonly reported?: Usage | undefined
  /** It came at the start of the answer, before anything was generated. */
  readonly isReportEarly?: boolean
  /**
   * False while only the start of the answer, empty texts or filter results have come; absent = every event has
   * content.
   */
  readonly speaks?: boolean
  /** Everything generated so far that would be charged: text, tool calls, reasoning. */
  output(): string
  /** Events with content so far: each carries about a token or more. */
  readonly pieces: number
  /** Characters generated so far. */
  readonly characters: number
  /** UTF-8 bytes of them beyond one for each. */
  readonly extraBytes: number
  /** Audio and images of a conversation so far; absent = none came. They are not counted as characters. */
  readonly media?: MediaTokens | undefined
  /** The end mark that the caller's client expects if the upstream does not send it; '' = none. */
  readonly endMark: string
  /** Complete images received; absent = the dialect has none. */
  readonly images?: number
  /** False once something arrived that may hold images in an unknown form. */
  readonly tellsImages?: boolean
  /** The answer is complete even if the end mark never comes. */
  readonly finished: boolean
  /** The last text or call is complete, if the dialect tells that before the end of the answer. */
  readonly answered?: boolean
  /**
   * Data to send instead of the last event that was fed, if that would mislead client programs; absent = send it
   * unchanged.
   */
  readonly instead?: string | undefined
  /** The number of events that could not be read and were skipped. */
  readonly leftOut: number
  /** The error the upstream reported within the stream. */
  readonly error: JsonObject | undefined
  /** The same, if it has already been read. */
  readonly failure?: Failure | undefined
  /**
   * The events that tell a caller of the same dialect that the stream was cut off here; '' if there is no such form.
   */
  failedEnd?(failure: Failure, requestId: string): string
}

/** The parts of a request that are in its URL, not in its body. */
export interface RequestAddress {
  readonly model?: string
  readonly stream?: boolean
  /** The request only counts tokens: the limit of the answer may be missing. */
  readonly countOnly?: boolean
}

/** Facts about an upstream that its dialect alone does not tell. */
export interface EncodeOptions {
  /**
   * The token limit if the caller named none and the dialect requires one; default: the most that the model's kind can
   * generate.
   */
  readonly defaultMaxTokens?: number
  /** OpenAI's chat: the service accepts cache marks as `cache_control`. */
  readonly cacheControl?: boolean
  /** OpenAI's chat: the service accepts tools whose input is free text. */
  readonly freeformTools?: boolean
  /** OpenAI's chat: models that think require `max_completion_tokens` instead of `max_tokens`. */
  readonly wantsNewLimit?: boolean
  /** OpenAI's chat: `web_search_options` is accepted for any model. */
  readonly webSearch?: boolean
  /** The call ids and tool names that this service accepts, if it differs from others of its dialect. */
  readonly toolRules?: ToolRules
  /** OpenAI's chat: `metadata` is refused, either always or unless the answer is to be stored (`store`). */
  readonly refusesMetadata?: 'always' | 'unstored'
  /** OpenAI's chat: how the service accepts the model's thoughts from earlier turns; absent = not at all. */
  readonly reasoningField?: 'reasoning_content' | 'reasoning_details'
}

/** A request in an upstream's dialect, and the names of the fields that were dropped. */
export interface EncodedRequest {
  readonly body: JsonObject
  readonly dropped: readonly string[]
}

/** The context for writing an answer to a caller. */
export interface Frame {
  /**
   * Unique among answers; identifies the answer and its parts if the upstream does not, or not in the caller's form.
   */
  readonly id: string
  /** The model that the caller asked for. */
  readonly model: string
  readonly createdAtSeconds: number
  /** The current time, for answers that say when they were completed. */
  readonly nowSeconds: () => number
  /** Prompt tokens as known before the upstream reports them; absent = not counted. */
  readonly promptTokens?: number
  readonly request: Conversation
}

/**
 * Follows one upstream stream. It is fed the data of every event, in order. For an event that cannot be read it returns
 * `unreadableEvent`, and it can be fed further events after that.
 */
export interface StreamDecoder {
  push(data: string): StreamEvent[]
  /** The input is over: returns the end if the answer is complete without an end mark, else an error. */
  finish(): StreamEvent[]
  /**
   * The events that tell a caller of the same dialect that the stream was cut off here; '' if there is no such form.
   */
  failedEnd?(failure: Failure, requestId: string): string
}

/** Writes one stream for a caller: every event becomes zero or more events of its dialect. */
export interface StreamEncoder {
  push(event: StreamEvent): string
}

/** One wire format as an upstream speaks it. Pure: no clock, no random numbers, no network. */
export interface UpstreamDialect {
  /** One of the callers' dialects, or another name for a format that no caller uses. */
  readonly name: DialectName | (string & {})
  /** The request for an upstream. Throws GatewayError (400) for anything that can neither be dropped nor expressed. */
  encodeRequest(conversation: Conversation, options?: EncodeOptions): EncodedRequest
  /** An upstream's whole answer, read leniently. `idSeed` makes ids where the dialect has none. */
  decodeReply(wire: JsonObject, idSeed: string): Reply
  streamDecoder(idSeed: string): StreamDecoder
  /** The call ids and tool names that it accepts; absent = the same as OpenAI's chat. */
  readonly toolRules?: ToolRules
  /** Its streams have no end mark: an answer is complete when every choice has given its stop reason. */
  readonly endsByReason?: true
  /** The service bills only the prompt, so an answer without completion tokens is not a mistake. */
  readonly billsPromptAlone?: true
  /** The error in an upstream's error body of any form. */
  decodeFailure(status: number, body: unknown): Failure
  /** The error in an answer with status 200; undefined if it is a real answer. */
  failureWithin?(wire: JsonObject): Failure | undefined
}

/** One wire format, in both directions. */
export interface Dialect extends UpstreamDialect {
  readonly name: DialectName
  readonly toolRules: ToolRules
  /** A caller's request. Throws GatewayError (400) with the path of the field at fault. */
  decodeRequest(wire: JsonObject, address?: RequestAddress): Conversation
  encodeReply(reply: Reply, frame: Frame): JsonObject
  streamEncoder(frame: Frame): StreamEncoder
  encodeFailure(failure: Failure, requestId: string): JsonObject
}
