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
 * The contents of a prompt, in the form needed to count its tokens: the texts, and the number of tokens of everything
 * else.
 */
export interface PromptText {
  texts: readonly string[]
  fixedTokens: number
  /** True if the prompt contains images, audio or files. Their tokens cannot be determined from the request. */
  hasMedia?: boolean
  /**
   * True if the prompt refers to a file, audio or video by URL or id, or to an earlier conversation. The prompt may
   * then be as long as the model can read.
   */
  isOpenEnded?: boolean
}

/** The facts about a request that the gateway needs. They have the same form for every dialect. */
export interface RequestFacts {
  model: string
  stream: boolean
  /** True if the caller asked for a usage chunk at the end of the stream. */
  wantsStreamUsage: boolean
  /** The maximum number of completion tokens requested per choice; undefined = the model decides. */
  maxTokens: number | undefined
  /** True if the model is asked to think. A stream may show less of the thinking than is charged. */
  asksToReason?: boolean | undefined
  /** The modalities that the answer may have, in lower case: text, audio, image; absent = the model decides. */
  outputs?: readonly string[] | undefined
  /** The requested service tier, in lower case, unless it is the default. */
  tier?: string | undefined
  /** The number of completions that are generated and charged. */
  choices: number
  prompt: PromptText
}

/** The meaning of one event of a stream for the gateway. */
export type StreamSignal =
  | 'content'
  /** The event contains only usage. It is withheld from a caller who did not ask for usage. */
  | 'usage-only'
  /** The end marker of the stream's dialect. */
  | 'done'
  /** The upstream reports an error within the stream. */
  | 'error'
  /** The event cannot be decoded and is skipped. The answer can continue without it. */
  | 'skip'
  /** The event can be neither decoded nor skipped, so the stream ends with an error. */
  | 'garbage'

/**
 * Reads the events of one stream, to know its usage, its text and how it ended. `feed` is called with the data of every
 * event, in order.
 */
export interface StreamMeter {
  /**
   * Counts the content of the events in `text`, from position `from`, without parsing them. Stops at the first event
   * that differs from an event fed earlier in more than its text, and returns the position of that event. The caller
   * must pass it to `feed`. `text` contains complete events without CR.
   */
  skim(text: string, from: number): number
  feed(data: string): StreamSignal
  /** The last usage that the upstream reported, in its raw form. */
  readonly usage: JsonObject | undefined
  /** The last reported usage in decoded form, if it has already been decoded. */
  readonly reported?: Usage | undefined
  /** True if the usage arrived at the start of the answer, before anything was generated. */
  readonly isReportEarly?: boolean
  /**
   * False while only the start of the answer, empty texts or filter results have arrived; absent = every event has
   * content.
   */
  readonly speaks?: boolean
  /** Everything generated so far that would be charged: text, tool calls, reasoning. */
  output(): string
  /** The number of events with content so far. Each usually contains at least one token. */
  readonly pieces: number
  /** Characters generated so far. */
  readonly characters: number
  /** The number of UTF-8 bytes of these characters in excess of one per character. */
  readonly extraBytes: number
  /** Audio and images of a conversation so far; absent = there were none. They are not counted as characters. */
  readonly media?: MediaTokens | undefined
  /** The end marker to send if the upstream does not send it, because the caller's client expects it; '' = none. */
  readonly endMark: string
  /** The number of complete images received; absent = the dialect has no images. */
  readonly images?: number
  /** False as soon as an event arrives that may contain images in an unknown format. */
  readonly tellsImages?: boolean
  /** True if the answer is complete, even without an end marker. */
  readonly finished: boolean
  /** True once the last text or call is complete, if the dialect shows this before the end of the answer. */
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
  /** The reported error in neutral form (the same for all dialects), if it has already been decoded. */
  readonly failure?: Failure | undefined
  /**
   * The events that tell a caller of the same dialect that the stream was cut off; '' if the dialect has no such
   * events.
   */
  failedEnd?(failure: Failure, requestId: string): string
}

/** The parts of a request that are in its URL instead of its body. */
export interface RequestAddress {
  readonly model?: string
  readonly stream?: boolean
  /** True if the request only counts tokens. The token limit of the response may then be missing. */
  readonly countOnly?: boolean
}

/** Properties that differ between upstreams with the same dialect. */
export interface EncodeOptions {
  /**
   * The token limit to use if the caller set none and the dialect requires one. The default is the maximum that models
   * of this kind can generate.
   */
  readonly defaultMaxTokens?: number
  /** For OpenAI's chat: true if the service accepts cache breakpoints as `cache_control`. */
  readonly cacheControl?: boolean
  /** For OpenAI's chat: true if the service accepts tools whose input is free text. */
  readonly freeformTools?: boolean
  /** For OpenAI's chat: true if models that think require `max_completion_tokens` instead of `max_tokens`. */
  readonly wantsNewLimit?: boolean
  /** For OpenAI's chat: true if `web_search_options` is accepted for any model. */
  readonly webSearch?: boolean
  /**
   * The call ids and tool names that this service accepts, if they differ from those of other services with the same
   * dialect.
   */
  readonly toolRules?: ToolRules
  /**
   * For OpenAI's chat: set if the service refuses `metadata`, either in every request or only in requests without
   * `store`.
   */
  readonly refusesMetadata?: 'always' | 'unstored'
  /**
   * For OpenAI's chat: the field in which the service accepts the model's reasoning from earlier turns; absent = the
   * service does not accept earlier reasoning.
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
   * Unique among answers. It identifies the answer and its parts if the upstream sends no ids or its ids do not have
   * the caller's format.
   */
  readonly id: string
  /** The model that the caller requested. */
  readonly model: string
  readonly createdAtSeconds: number
  /** The current time, for answers that report when they were completed. */
  readonly nowSeconds: () => number
  /** Our own count of the prompt tokens, for use before the upstream reports them; absent = not counted. */
  readonly promptTokens?: number
  readonly request: Conversation
}

/**
 * Decodes one upstream stream. `push` is called with the data of every event, in order. For an event that cannot be
 * read it returns `unreadableEvent`, and it accepts further events after that.
 */
export interface StreamDecoder {
  push(data: string): StreamEvent[]
  /** Ends the input. Returns the end event if the answer is complete without an end marker, otherwise an error. */
  finish(): StreamEvent[]
  /**
   * The events that tell a caller of the same dialect that the stream was cut off; '' if the dialect has no such
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
   * Decodes a non-streamed response of an upstream. A missing or invalid field is not an error. `idSeed` is used to
   * create ids where the dialect has none.
   */
  decodeReply(wire: JsonObject, idSeed: string): Reply
  streamDecoder(idSeed: string): StreamDecoder
  /** The call ids and tool names that the dialect accepts; absent = the same as OpenAI's chat. */
  readonly toolRules?: ToolRules
  /**
   * True if streams of this dialect have no end marker. An answer is then complete when every choice has a stop reason.
   */
  readonly endsByReason?: true
  /** True if the service bills only the prompt. An answer without completion tokens is then valid. */
  readonly billsPromptAlone?: true
  /** The error in an upstream's error body, whatever its format. */
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
