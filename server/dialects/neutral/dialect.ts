import type { Usage } from '../../../contract/usage.ts'
import type { JsonObject } from '../../lib/json.ts'
import type { Conversation, DialectName } from './conversation.ts'
import type { Failure, Reply, StreamEvent } from './reply.ts'
import type { ToolRules } from './tool-rules.ts'

/** The audio tokens and image tokens of an answer, as the gateway counts them if the upstream reports none. */
export interface MediaTokens {
  readonly audio: number
  readonly images: number
}

/**
 * The contents of a prompt, for counting its tokens: the texts, and the number of tokens of everything that is not
 * text.
 */
export interface PromptText {
  texts: readonly string[]
  fixedTokens: number
  /** The prompt contains images, audio or files, whose tokens cannot be determined from the request. */
  hasMedia?: boolean
  /**
   * The prompt contains a file, audio or video by URL or id, or an earlier conversation. It may therefore be as long as
   * the model can read.
   */
  isOpenEnded?: boolean
}

/** What the gateway must know about a request in any dialect. */
export interface RequestFacts {
  model: string
  stream: boolean
  /** The caller asked for a usage chunk at the end of the stream. */
  wantsStreamUsage: boolean
  /** The maximum number of completion tokens requested per choice; undefined = the model decides. */
  maxTokens: number | undefined
  /** The model is asked to think. A stream may show less of its thinking than is charged. */
  asksToReason?: boolean | undefined
  /** The modalities that the answer may have, in lower case: text, audio, image; absent = the model decides. */
  outputs?: readonly string[] | undefined
  /** The requested service tier, in lower case, unless it is the default. */
  tier?: string | undefined
  /** The number of completions that are generated and charged. */
  choices: number
  prompt: PromptText
}

/** What one event of a stream means to the gateway. */
export type StreamSignal =
  | 'content'
  /** Contains only usage. The event is withheld from a caller who did not ask for usage. */
  | 'usage-only'
  /** The regular end of the stream in its dialect. */
  | 'done'
  /** The upstream reports an error within the stream. */
  | 'error'
  /** Cannot be decoded and is skipped. The answer can continue without it. */
  | 'skip'
  /** Cannot be decoded or skipped, so the stream ends with an error. */
  | 'garbage'

/** Meters one stream in one dialect. It is fed the data of every event, in order. */
export interface StreamMeter {
  /**
   * Reads events from position `from` without parsing them, as long as they differ only in their text from an event
   * that was fed earlier. Returns the position of the first event that must be fed. `text` holds complete events
   * without CR.
   */
  skim(text: string, from: number): number
  feed(data: string): StreamSignal
  /** The last usage that the upstream reported, in its raw form. */
  readonly usage: JsonObject | undefined
  /** The same usage, if it has already been decoded. */
  readonly reported?: Usage | undefined
  /** The usage arrived at the start of the answer, before anything was generated. */
  readonly isReportEarly?: boolean
  /**
   * False while only the start of the answer, empty texts or filter results have arrived; absent = every event has
   * content.
   */
  readonly speaks?: boolean
  /** Everything generated so far that would be charged: text, tool calls, reasoning. */
  output(): string
  /** The number of events with content so far. Each carries about one token or more. */
  readonly pieces: number
  /** Characters generated so far. */
  readonly characters: number
  /** The UTF-8 bytes of these characters beyond one per character. */
  readonly extraBytes: number
  /** Audio and images of a conversation so far; absent = there were none. They are not counted as characters. */
  readonly media?: MediaTokens | undefined
  /** The end mark to send if the upstream does not send it, because the caller's client expects it; '' = none. */
  readonly endMark: string
  /** The number of complete images received; absent = the dialect has no images. */
  readonly images?: number
  /** False once an event has arrived that may hold images in an unknown format. */
  readonly tellsImages?: boolean
  /** The answer is complete even if the end mark never arrives. */
  readonly finished: boolean
  /** The last text or call is complete, if the dialect shows this before the end of the answer. */
  readonly answered?: boolean
  /**
   * Data to send instead of the last event that was fed, if that event would mislead client programs; absent = send the
   * event unchanged.
   */
  readonly instead?: string | undefined
  /** The number of events that could not be read and were skipped. */
  readonly leftOut: number
  /** The error that the upstream reported within the stream. */
  readonly error: JsonObject | undefined
  /** The same error, if it has already been decoded. */
  readonly failure?: Failure | undefined
  /**
   * The events that show a caller of the same dialect that the stream was cut off here; '' if the dialect has no such
   * events.
   */
  failedEnd?(failure: Failure, requestId: string): string
}

/** The parts of a request that are in its URL, not in its body. */
export interface RequestAddress {
  readonly model?: string
  readonly stream?: boolean
  /** The request only counts tokens, so the limit of the response may be missing. */
  readonly countOnly?: boolean
}

/** Properties of an upstream that do not follow from its dialect. */
export interface EncodeOptions {
  /**
   * The token limit to use if the caller set none and the dialect requires one. The default is the maximum that models
   * of this kind can generate.
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
  /**
   * The call ids and tool names that this service accepts, if they differ from those of other services with the same
   * dialect.
   */
  readonly toolRules?: ToolRules
  /** OpenAI's chat: `metadata` is refused, either always or only if the answer is not to be stored (`store`). */
  readonly refusesMetadata?: 'always' | 'unstored'
  /**
   * OpenAI's chat: how the service accepts the model's thoughts from earlier turns; absent = it does not accept them.
   */
  readonly reasoningField?: 'reasoning_content' | 'reasoning_details'
}

/** A request in an upstream's dialect, and the names of the fields that were dropped. */
export interface EncodedRequest {
  readonly body: JsonObject
  readonly dropped: readonly string[]
}

/** The context for writing a response to a caller. */
export interface Frame {
  /**
   * Unique among answers. It identifies the answer and its parts if the upstream sends no ids, or none in the caller's
   * format.
   */
  readonly id: string
  /** The model that the caller requested. */
  readonly model: string
  readonly createdAtSeconds: number
  /** The current time, for answers that report when they were completed. */
  readonly nowSeconds: () => number
  /** The prompt tokens as counted before the upstream reports them; absent = not counted. */
  readonly promptTokens?: number
  readonly request: Conversation
}

/**
 * Decodes one upstream stream. It is fed the data of every event, in order. For an event that cannot be read it returns
 * `unreadableEvent`, and it accepts further events after that.
 */
export interface StreamDecoder {
  push(data: string): StreamEvent[]
  /** Ends the input. Returns the end event if the answer is complete without an end mark, otherwise an error. */
  finish(): StreamEvent[]
  /**
   * The events that show a caller of the same dialect that the stream was cut off here; '' if the dialect has no such
   * events.
   */
  failedEnd?(failure: Failure, requestId: string): string
}

/** Writes one stream for a caller. Every event becomes zero or more events of the caller's dialect. */
export interface StreamEncoder {
  push(event: StreamEvent): string
}

/** One wire format as upstreams use it. Its functions are pure: no clock, no random numbers, no network. */
export interface UpstreamDialect {
  /** One of the callers' dialects, or another name for a format that no caller uses. */
  readonly name: DialectName | (string & {})
  /** The request for an upstream. Throws GatewayError (400) for anything that can neither be dropped nor expressed. */
  encodeRequest(conversation: Conversation, options?: EncodeOptions): EncodedRequest
  /**
   * Decodes a non-streamed response of an upstream leniently. `idSeed` is used to create ids where the dialect has
   * none.
   */
  decodeReply(wire: JsonObject, idSeed: string): Reply
  streamDecoder(idSeed: string): StreamDecoder
  /** The call ids and tool names that the dialect accepts; absent = the same as OpenAI's chat. */
  readonly toolRules?: ToolRules
  /** Streams of this dialect have no end mark. An answer is complete when every choice has a stop reason. */
  readonly endsByReason?: true
  /** The service bills only the prompt, so an answer without completion tokens is valid. */
  readonly billsPromptAlone?: true
  /** The error in an upstream's error body of any format. */
  decodeFailure(status: number, body: unknown): Failure
  /** The error in a response with status 200; undefined if the response is a real answer. */
  failureWithin?(wire: JsonObject): Failure | undefined
}

/** One wire format, in both directions. */
export interface Dialect extends UpstreamDialect {
  readonly name: DialectName
  readonly toolRules: ToolRules
  /** Decodes a caller's request. Throws GatewayError (400) with the path of the invalid field. */
  decodeRequest(wire: JsonObject, address?: RequestAddress): Conversation
  encodeReply(reply: Reply, frame: Frame): JsonObject
  streamEncoder(frame: Frame): StreamEncoder
  encodeFailure(failure: Failure, requestId: string): JsonObject
}
