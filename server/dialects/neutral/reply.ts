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

/** The parts that an answer consists of. */
export type ReplyPart = TextPart | MediaPart | ToolCallPart | ReasoningPart | RefusalPart | NativePart

/** The reasons for the end of an answer. */
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
  /** The stop sequence that was reached. */
  readonly sequence?: string
  /** The service's own name for the reason, and any details. */
  readonly raw?: { readonly dialect: DialectName; readonly reason: string; readonly message?: string }
}

/** One of the requested answers. */
export interface Choice {
  readonly parts: readonly ReplyPart[]
  readonly stop: Stop
}

/** A complete answer, independent of dialects. */
export interface Reply {
  /** The upstream's id for the answer and its name for the model. */
  readonly id?: string
  readonly model?: string
  readonly createdAtSeconds?: number
  readonly choices: readonly Choice[]
  readonly usage?: Usage
}

/** The kinds of failure that callers' programs distinguish. */
export type FailureKind =
  | 'invalid'
  | 'authentication'
  | 'billing'
  | 'permission'
  | 'not-found'
  | 'too-large'
  /** Prompt and answer exceed the model's context. */
  | 'context-length'
  | 'rate-limit'
  | 'quota'
  | 'timeout'
  | 'overloaded'
  | 'server'

/** The known sizes, in tokens, if a request exceeds the model's context. */
export interface ContextSizes {
  readonly limit?: number
  readonly prompt?: number
  /** Tokens requested for the answer. */
  readonly output?: number
}

/** An error, independent of dialects. */
export interface Failure {
  readonly status: number
  readonly kind: FailureKind
  readonly message: string
  /** The service's own code and type, for client programs that compare them. */
  readonly code?: string
  readonly type?: string
  /** The dialect of this code and type; absent = the gateway's own. */
  readonly dialect?: DialectName
  readonly param?: string
  /** Extra details for Anthropic's client programs. */
  readonly details?: JsonObject
  readonly context?: ContextSizes
  /** The delay after which the service recommends a retry, if the error itself contains it. */
  readonly retryAfterSeconds?: number
}

/** One event of a streamed answer. Parts are numbered per choice, in the order in which they start. */
export type StreamEvent =
  | {
      readonly type: 'start'
      readonly id?: string
      readonly model?: string
      readonly createdAtSeconds?: number
      readonly usage?: Usage
    }
  /** A part begins, with the details known at its start. Text and input may follow as deltas. */
  | { readonly type: 'part'; readonly choice: number; readonly index: number; readonly part: ReplyPart }
  /** More of a part's text, input, transcript or data. */
  | { readonly type: 'delta'; readonly choice: number; readonly index: number; readonly text: string }
  /** New details of a part. */
  | { readonly type: 'detail'; readonly choice: number; readonly index: number; readonly detail: PartDetail }
  | { readonly type: 'part-end'; readonly choice: number; readonly index: number }
  | { readonly type: 'stop'; readonly choice: number; readonly stop: Stop }
  /** The usage so far. A later report replaces it. */
  | { readonly type: 'usage'; readonly usage: Usage }
  | { readonly type: 'ping' }
  | { readonly type: 'error'; readonly failure: Failure }
  /** The end of the answer. Without this event the answer is incomplete. */
  | { readonly type: 'end' }

/**
 * Details of a part that arrive later. Signatures and citations arrive after their text. Log probabilities arrive after
 * each piece of the text. `transcript` is the next piece of the transcript. `isWhole`: the part's text or input is
 * complete, although the end of the part may still follow.
 */
export interface PartDetail {
  readonly logprobs?: readonly JsonObject[]
  readonly seal?: Seal
  readonly citations?: readonly Citation[]
  readonly transcript?: string
  readonly isWhole?: true
}
