import type { Usage } from '../../../contract/usage.ts'
import type { JsonObject } from '../../lib/json.ts'
import type {
  Citation,
  DialectName,
  MediaPart,
  NativePart,
  ReasoningPart,
  RefusalPart,
  Seal,
  TextPart,
  ToolCallPart,
} from './conversation.ts'

/** What an answer consists of. */
export type ReplyPart = TextPart | MediaPart | ToolCallPart | ReasoningPart | RefusalPart | NativePart

/** Why an answer ended. */
export type StopReason =
  | 'stop'
  | 'stop-sequence'
  | 'length'
  | 'context-window'
  | 'tool-calls'
  | 'refusal'
  | 'content-filter'
  | 'pause'
  | 'malformed-call'
  | 'other'

/** The end of one answer. */
export interface Stop {
  readonly reason: StopReason
  /** The stop sequence that was met. */
  readonly sequence?: string
  /** The service's own word for it, and what it says besides. */
  readonly raw?: { readonly dialect: DialectName; readonly reason: string; readonly message?: string }
}

/** One of the answers asked for. */
export interface Choice {
  readonly parts: readonly ReplyPart[]
  readonly stop: Stop
}

/** A whole answer in no dialect. */
export interface Reply {
  /** The upstream's names for answer and model. */
  readonly id?: string
  readonly model?: string
  readonly createdAtSeconds?: number
  readonly choices: readonly Choice[]
  readonly usage?: Usage
}

/** Kinds of failure that a caller's program tells apart. */
export type FailureKind =
  | 'invalid'
  | 'authentication'
  | 'billing'
  | 'permission'
  | 'not-found'
  | 'too-large'
  /** Prompt and answer do not fit the model's context. */
  | 'context-length'
  | 'rate-limit'
  | 'quota'
  | 'timeout'
  | 'overloaded'
  | 'server'

/** What is known of the sizes where the context is too long, in tokens. */
export interface ContextSizes {
  readonly limit?: number
  readonly prompt?: number
  /** Room asked for the answer. */
  readonly output?: number
}

/** An error in no dialect. */
export interface Failure {
  readonly status: number
  readonly kind: FailureKind
  readonly message: string
  /** The maker's own code and type, for callers who match on them. */
  readonly code?: string
  readonly type?: string
  /** Whose code and type these are; absent = the gateway's own. */
  readonly dialect?: DialectName
  readonly param?: string
  /** What Anthropic's programs are told beside the text. */
  readonly details?: JsonObject
  readonly context?: ContextSizes
  /** When the maker says a retry makes sense, where it says so within the error. */
  readonly retryAfterSeconds?: number
}

/** One event of a streamed answer. Parts are numbered per choice, in the order of their starts. */
export type StreamEvent =
  | {
      readonly type: 'start'
      readonly id?: string
      readonly model?: string
      readonly createdAtSeconds?: number
      readonly usage?: Usage
    }
  /** A part begins, with what is known of it from the start; text and input may follow as deltas. */
  | { readonly type: 'part'; readonly choice: number; readonly index: number; readonly part: ReplyPart }
  /** More of a part's text, input, transcript or data. */
  | { readonly type: 'delta'; readonly choice: number; readonly index: number; readonly text: string }
  /** What became known of a part meanwhile. */
  | { readonly type: 'detail'; readonly choice: number; readonly index: number; readonly detail: PartDetail }
  | { readonly type: 'part-end'; readonly choice: number; readonly index: number }
  | { readonly type: 'stop'; readonly choice: number; readonly stop: Stop }
  /** All that is known of it so far; a later one takes its place. */
  | { readonly type: 'usage'; readonly usage: Usage }
  | { readonly type: 'ping' }
  | { readonly type: 'error'; readonly failure: Failure }
  /** The formal end: without it the answer is not complete. */
  | { readonly type: 'end' }

/**
 * Seals and citations come after the text they belong to, logprobs after each piece of it; `transcript` grows. `isWhole`:
 * no more of its text or input comes, though the part's end may be still to come.
 */
export interface PartDetail {
  readonly logprobs?: readonly JsonObject[]
  readonly seal?: Seal
  readonly citations?: readonly Citation[]
  readonly transcript?: string
  readonly isWhole?: true
}
