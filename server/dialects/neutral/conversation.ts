import type { CallerDialect } from '../../../contract/relay-paths.ts'
import type { JsonObject } from '../../lib/json.ts'

/** The wire formats that callers and upstreams speak. */
export type DialectName = CallerDialect

/** Members of a wire object that only its own dialect knows: that dialect writes them back, others name them as lost. */
export interface Native {
  readonly dialect: DialectName
  readonly fields: JsonObject
  /** The same of objects that are members and whose other members are known. */
  readonly inner?: Readonly<Record<string, Native>>
}

/** State that only the service which made it can read: a signature, encrypted reasoning. */
export interface Seal {
  readonly from: DialectName
  readonly value: string
}

/** "The prompt up to here is worth caching"; `ttl` as the caller wrote it, '' = the service's own. */
export interface CacheMark {
  readonly ttl: string
}

/** Where the text of an answer comes from. */
export interface Citation {
  readonly url?: string
  readonly title?: string
  /** What the source says. */
  readonly quote?: string
  /** A file known to the service, where the source is no address. */
  readonly fileId?: string
  /** The cited stretch of the part's text, in UTF-16 units; absent = the whole part. */
  readonly start?: number
  readonly end?: number
  readonly native?: Native
}

/** Text of either side. */
export interface TextPart {
  readonly type: 'text'
  readonly text: string
  readonly cache?: CacheMark
  readonly citations?: readonly Citation[]
  /** Of an answer: its tokens and how probable each was, in the words that OpenAI's two dialects have for it. */
  readonly logprobs?: readonly JsonObject[]
  readonly seal?: Seal
  readonly native?: Native
}

/** Where the bytes of a medium are. `data` is base64. */
export type MediaSource =
  | { readonly kind: 'inline'; readonly data: string; readonly mediaType: string }
  | { readonly kind: 'url'; readonly url: string; readonly mediaType?: string }
  | { readonly kind: 'file'; readonly id: string }

/** An image, sound, video or document. */
export interface MediaPart {
  readonly type: 'media'
  readonly media: 'image' | 'audio' | 'video' | 'document'
  readonly source: MediaSource
  readonly name?: string
  /** How closely an image is looked at. */
  readonly detail?: string
  /** The answer is to cite this document. */
  readonly cite?: boolean
  /** What is said in a sound that a model made. */
  readonly transcript?: string
  readonly cache?: CacheMark
  readonly seal?: Seal
  readonly native?: Native
}

/** The model calls a tool of the caller. */
export interface ToolCallPart {
  readonly type: 'tool-call'
  readonly id: string
  readonly name: string
  /** JSON text, or any text where the tool is freeform. */
  readonly input: string
  readonly freeform?: boolean
  readonly cache?: CacheMark
  readonly seal?: Seal
  readonly native?: Native
}

/** What the caller's tool answered. */
export interface ToolResultPart {
  readonly type: 'tool-result'
  readonly callId: string
  readonly content: readonly (TextPart | MediaPart | NativePart)[]
  readonly isError?: boolean
  readonly freeform?: boolean
  readonly cache?: CacheMark
  readonly native?: Native
}

/** What the model thought: readable, sealed, or both. */
export interface ReasoningPart {
  readonly type: 'reasoning'
  /** '' when it is not shown. */
  readonly text: string
  /** The service hid the thought and shows only its sealed form. */
  readonly redacted?: boolean
  /** The thought itself and not a summary of it. */
  readonly full?: boolean
  readonly seal?: Seal
  readonly native?: Native
}

/** The model declines, in its own words. */
export interface RefusalPart {
  readonly type: 'refusal'
  readonly text: string
}

/** Something that only one dialect has, as it came; others write its text, where it has one. */
export interface NativePart {
  readonly type: 'native'
  readonly dialect: DialectName
  readonly value: JsonObject
  readonly text?: string
  /** What others are given in its place. */
  readonly parts?: readonly (TextPart | MediaPart)[]
}

/** A piece of a message. */
export type Part = TextPart | MediaPart | ToolCallPart | ToolResultPart | ReasoningPart | RefusalPart | NativePart

/** One turn. Tool results are parts of a user's turn. System messages here are those in the middle of a conversation. */
export interface Message {
  readonly role: 'user' | 'assistant' | 'system'
  readonly parts: readonly Part[]
  /** Who of several speakers. */
  readonly name?: string
  readonly native?: Native
}

/** A group of tools that only OpenAI knows, and the name that a tool has in it. */
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
  /** Where it stands; `name` tells it apart from the tools of other namespaces. */
  readonly within?: Namespace
  readonly cache?: CacheMark
  readonly native?: Native
}

/** A tool whose input is free text, perhaps of a grammar. */
export interface FreeformTool {
  readonly type: 'freeform'
  readonly name: string
  readonly description?: string
  readonly format?: JsonObject
  readonly within?: Namespace
  readonly native?: Native
}

/** The service's own web search. */
export interface SearchTool {
  readonly type: 'web-search'
  readonly maxUses?: number
  readonly allowedDomains?: readonly string[]
  readonly blockedDomains?: readonly string[]
  /** How much of the findings the model reads: low, medium, high. */
  readonly contextSize?: string
  /** Roughly where the user is: city, region, country, timezone. */
  readonly location?: JsonObject
  readonly cache?: CacheMark
  readonly native?: Native
}

/** A tool that only one dialect has, as it came. */
export interface NativeTool {
  readonly type: 'native'
  readonly dialect: DialectName
  readonly value: JsonObject
}

export type Tool = FunctionTool | FreeformTool | SearchTool | NativeTool

/** Names one of the tools: by its own name, or by its kind, in the words of the caller's dialect. */
export type ToolReference =
  | { readonly type: 'named'; readonly name: string; readonly freeform?: boolean }
  | { readonly type: 'web-search'; readonly value?: JsonObject }
  | { readonly type: 'native'; readonly value: JsonObject }

/** Which tools the model may or must call. */
export type ToolChoice =
  | { readonly mode: 'auto' | 'none' | 'required' }
  | { readonly mode: 'tool'; readonly tool: ToolReference }
  | { readonly mode: 'allowed'; readonly tools: readonly ToolReference[]; readonly required: boolean }

/** The form of the answer's text. */
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

/** How much the model is to think, and whether the caller wants to see it. */
export interface ReasoningWish {
  readonly effort?: Effort
  readonly budgetTokens?: number
  /** The model decides how much. */
  readonly adaptive?: boolean
  readonly visible?: boolean
  /** How long the shown summary is: auto, concise, detailed. */
  readonly summary?: string
}

/** Sound, images or text. */
export interface OutputWish {
  readonly modalities: readonly string[]
  readonly voice?: string
  readonly soundFormat?: string
}

/** A request in no dialect: what any of them can say, and what only its own can, kept apart. */
export interface Conversation {
  readonly from: DialectName
  readonly model: string
  readonly stream: boolean
  /** The caller asked for usage in the stream; only OpenAI's chat can leave it out. */
  readonly wantsStreamUsage: boolean
  readonly system: readonly TextPart[]
  readonly messages: readonly Message[]
  readonly tools: readonly Tool[]
  /** The caller speaks of functions, as OpenAI's chat did before it had tools, and is answered so. */
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
  /** How many answers. */
  readonly choices?: number
  readonly logprobs?: boolean
  readonly topLogprobs?: number
  readonly verbosity?: string
  /** Who the caller's user is, for the service's protection against abuse. */
  readonly userId?: string
  readonly metadata?: JsonObject
  readonly serviceTier?: 'auto' | 'standard' | 'flex' | 'priority'
  readonly cacheKey?: string
  readonly cacheRetention?: string
  /** The service itself finds the end of what is worth caching. */
  readonly cache?: CacheMark
  readonly native?: Native
  /**
   * Places of members that nobody read: those that their own dialect writes back, and those that nobody does. Sought when
   * somebody asks, since a request that is passed on needs none of it.
   */
  readonly unread?: () => { readonly kept: ReadonlySet<string>; readonly lost: ReadonlySet<string> }
}
