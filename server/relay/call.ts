import type { RelayMode } from '../../contract/relay-modes.ts'
import type { RequestFacts } from '../dialects/dialect.ts'
import type { JsonObject } from '../lib/json.ts'
import type { Caller } from './caller.ts'
import type { Leaving } from './caller-left.ts'
import type { FormBody } from './form-body.ts'

/** The body of a call: JSON text with its parsed form, or a multipart form that may lie in a spool file. */
export type CallBody = { kind: 'json'; text: string; json: JsonObject } | { kind: 'form'; form: FormBody }

/** One relayed call as the caller asked it. */
export interface RelayCall {
  requestId: string
  mode: RelayMode
  /** OpenAI's path for the mode, e.g. `/v1/chat/completions`. */
  path: string
  caller: Caller
  body: CallBody
  facts: RequestFacts
  /** Prompt tokens by the quick estimate, or as counted where quota is short; what holds and crash charges are sized by. */
  promptGuess: number
  /** The caller's headers that may go upstream. */
  headers: Readonly<Record<string, string>>
  /** Aborted when the caller leaves. */
  signal: AbortSignal
  /** What is done then. */
  leaving: Leaving
  startedAtMs: number
}

/** One attempt at one channel, for the log. */
export interface Attempt {
  channelId: number
  /** HTTP status of the answer; 0 = none came. */
  status: number
  /** Why it failed; '' when it did not. */
  error: string
  elapsedMs: number
}
