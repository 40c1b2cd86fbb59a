import type { CallerDialect } from '../../../contract/relay-paths.ts'
import type { JsonObject } from '../../lib/json.ts'

/** The wire formats of callers and upstreams. */
export type DialectName = CallerDialect

/**
 * Fields of a wire object that exist only in its own dialect. The encoder of that dialect writes them back; the
 * encoders of other dialects report them as dropped.
 */
export interface Native {
  readonly dialect: DialectName
  readonly fields: JsonObject
  /** The unknown fields of nested objects whose other fields are known. */
  readonly inner?: Readonly<Record<string, Native>>
}

/** State that only the service that created it can read: a signature or encrypted reasoning. */
export interface Seal {
  readonly from: DialectName
  readonly value: string
}

/**
 * Marks that the prompt up to this point is worth caching. `ttl` is kept as the caller wrote it; '' = the service's
 * default.
 */
export interface CacheMark {
  readonly ttl: string
}

/** A source of the text of an answer. */
export interface Citation {
  readonly url?: string
  readonly title?: string
  /** The title or text of the source. */
  readonly quote?: string
  /** The service's id of a file, if the source has no URL. */
  readonly fileId?: string
  /** The cited range of the part's text, in UTF-16 code units; absent = the whole part. */
  readonly start?: number
  readonly end?: number
  readonly native?: Native
}

/** Text from the user or the model. */
export interface TextPart {
  readonly type: 'text'
  readonly text: string
  readonly cache?: CacheMark
  readonly citations?: readonly Citation[]
  /** Only in answers: the tokens and their log probabilities, in the form that OpenAI's two dialects share. */
  readonly logprobs?: readonly JsonObject[]
  readonly seal?: Seal
  readonly native?: Native
}

/** The location of the bytes of a media part. `data` is base64. */
export type MediaSource =
  | { readonly kind: 'inline'; readonly data: string; readonly mediaType: string }
  | { readonly kind: 'url'; readonly url: string; readonly mediaType?: string }
  | { readonly kind: 'file'; readonly id: string; readonly mediaType?: string }

/** An image, audio, video or document. */
export interface MediaPart {
  readonly type: 'media'
  readonly media: 'image' | 'audio' | 'video' | 'document'
  readonly source: MediaSource
  readonly name?: string
  /** The detail level at which the model looks at an image. */
  readonly detail?: string
  /** True if the answer should cite this document. */
  readonly cite?: boolean
  /** The transcript of audio that a model made. */
  readonly transcript?: string
  readonly cache?: CacheMark
  readonly seal?: Seal
  readonly native?: Native
}

/** A call that the model makes to one of the caller's tools. */
export interface ToolCallPart {
  readonly type: 'tool-call'
  readonly id: string
  readonly name: string
  /** JSON text, or any text if the tool is freeform. */
  readonly input: string
  readonly freeform?: boolean
  readonly cache?: CacheMark
  readonly seal?: Seal
  readonly native?: Native
}

/** The result of the caller's tool. */
export interface ToolResultPart {
  readonly type: 'tool-result'
  readonly callId: string
  readonly content: readonly (TextPart | MediaPart | NativePart)[]
  readonly isError?: boolean
  readonly freeform?: boolean
  readonly cache?: CacheMark
  readonly native?: Native
}

/** Reasoning of the model: a readable text, an encrypted or signed state, or both. */
export interface ReasoningPart {
  readonly type: 'reasoning'
  /** '' if the reasoning is not shown. */
  readonly text: string
  /** True if the service hid the reasoning and returned only its encrypted form. */
  readonly redacted?: boolean
  /** True if the text is the reasoning itself, not a summary of it. */
  readonly full?: boolean
  readonly seal?: Seal
  readonly native?: Native
}

/** The model's refusal, in its own words. */
export interface RefusalPart {
  readonly type: 'refusal'
  readonly text: string
}

/** Content of a type that only one dialect has, unchanged. Other dialects write its text, if it has one. */
export interface NativePart {
  readonly type: 'native'
  readonly dialect: DialectName
  readonly value: JsonObject
  readonly text?: string
  /** The content for other dialects. */
  readonly parts?: readonly (TextPart | MediaPart)[]
}

/** A piece of a message. */
export type Part = TextPart | MediaPart | ToolCallPart | ToolResultPart | ReasoningPart | RefusalPart | NativePart

/**
 * One turn. Tool results are parts of a user's turn. System messages are included only if they are in the middle of a
 * conversation.
 */
export interface Message {
  readonly role: 'user' | 'assistant' | 'system'
  readonly parts: readonly Part[]
  /** The name of the speaker, if there are several. */
  readonly name?: string
  readonly native?: Native
}

/** The namespace of a tool, and the tool's name within it. Namespaces are OpenAI's way to group tools. */
export interface Namespace {
  readonly name: string
  readonly description?: string
  readonly own: string
}

/** A function that the model may call. */
export interface FunctionTool {
  readonly type: 'function'
  readonly name: string
  readonly description?: string
  /** JSON Schema of the input; absent = no input. */
  readonly schema?: JsonObject
  readonly strict?: boolean
  /** The tool's namespace. `name` is unique among the tools of all namespaces. */
  readonly within?: Namespace
  readonly cache?: CacheMark
  readonly native?: Native
}

/** A tool whose input is free text, optionally with a grammar. */
export interface FreeformTool {
  readonly type: 'freeform'
  readonly name: string
  readonly description?: string
  readonly format?: JsonObject
  readonly within?: Namespace
  readonly native?: Native
}

/** The service's built-in web search. */
export interface SearchTool {
  readonly type: 'web-search'
  readonly maxUses?: number
  readonly allowedDomains?: readonly string[]
  readonly blockedDomains?: readonly string[]
  /** The amount of the search results that the model reads: low, medium, high. */
  readonly contextSize?: string
  /** The user's approximate location: city, region, country, timezone. */
  readonly location?: JsonObject
  readonly cache?: CacheMark
  readonly native?: Native
}

/** A tool that only one dialect has, unchanged. */
export interface NativeTool {
  readonly type: 'native'
  readonly dialect: DialectName
  readonly value: JsonObject
}

export type Tool = FunctionTool | FreeformTool | SearchTool | NativeTool

/** A reference to one of the tools, either by its name or by its kind in the caller's dialect. */
export type ToolReference =
  | { readonly type: 'named'; readonly name: string; readonly freeform?: boolean }
  | { readonly type: 'web-search'; readonly value?: JsonObject }
  | { readonly type: 'native'; readonly value: JsonObject }

/** Which tools the model may or must call. */
export type ToolChoice =
  | { readonly mode: 'auto' | 'none' | 'required' }
  | { readonly mode: 'tool'; readonly tool: ToolReference }
  | { readonly mode: 'allowed'; readonly tools: readonly ToolReference[]; readonly required: boolean }

/** The format of the answer's text. */
export type ResponseFormat =
  | { readonly type: 'text' }
  | { readonly type: 'json' }
  | {
      readonly type: 'schema'
      readonly schema: JsonObject
      readonly name?: string
      readonly description?: string
      readonly strict?: boolean
    }

export const efforts = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const
export type Effort = (typeof efforts)[number]

/** The amount of thinking that the caller wants, and whether the caller wants to see the reasoning. */
export interface ReasoningWish {
  readonly effort?: Effort
  readonly budgetTokens?: number
  /** True if the model decides how much to think. */
  readonly adaptive?: boolean
  readonly visible?: boolean
  /** The level of detail of the visible summary: auto, concise, detailed. */
  readonly summary?: string
}

/** The output that the caller wants: audio, images or text. */
export interface OutputWish {
  readonly modalities: readonly string[]
  readonly voice?: string
  readonly soundFormat?: string
}

/**
 * A request in a form that does not depend on a dialect. Content that every dialect can express is kept separate from
 * content that only the caller's own dialect can express.
 */
export interface Conversation {
  readonly from: DialectName
  readonly model: string
  readonly stream: boolean
  /** True if the caller wants usage in the stream. Only OpenAI's chat makes this optional. */
  readonly wantsStreamUsage: boolean
  readonly system: readonly TextPart[]
  readonly messages: readonly Message[]
  readonly tools: readonly Tool[]
  /**
   * True if the caller uses `functions`, the predecessor of `tools` in OpenAI's chat, and gets responses in that
   * format.
   */
  readonly oldFunctions?: boolean
  readonly toolChoice?: ToolChoice
  readonly parallelTools?: boolean
  readonly format?: ResponseFormat
  readonly reasoning?: ReasoningWish
  readonly output?: OutputWish
  readonly maxTokens?: number
  readonly temperature?: number
  readonly topP?: number
  readonly topK?: number
  readonly frequencyPenalty?: number
  readonly presencePenalty?: number
  readonly seed?: number
  readonly stop?: readonly string[]
  /** The number of answers to generate. */
  readonly choices?: number
  readonly logprobs?: boolean
  readonly topLogprobs?: number
  readonly verbosity?: string
  /** The caller's end user, for the service's abuse detection. */
  readonly userId?: string
  readonly metadata?: JsonObject
  readonly serviceTier?: 'auto' | 'standard' | 'flex' | 'priority'
  readonly cacheKey?: string
  readonly cacheRetention?: string
  /** Present if the prompt should be cached and the service should decide which part of it. */
  readonly cache?: CacheMark
  readonly native?: Native
  /**
   * Paths of fields that were not read. An encoder of the caller's dialect writes back the fields in `kept`. No encoder
   * writes the fields in `lost`. They are computed on demand, because a request that is passed through does not need
   * them.
   */
  readonly unread?: () => { readonly kept: ReadonlySet<string>; readonly lost: ReadonlySet<string> }
}
