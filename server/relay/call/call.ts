import type { RelayMode } from '../../../contract/relay-modes.ts'
import { callerDialects } from '../../dialects/caller-dialects.ts'
import type { Conversation, DialectName } from '../../dialects/neutral/conversation.ts'
import type { RequestAddress, RequestFacts } from '../../dialects/neutral/dialect.ts'
import { GatewayError } from '../../errors.ts'
import type { FormBody } from '../body/form-body.ts'
import type { JsonBody } from '../body/json-body.ts'
import type { Leaving } from '../cancellation/caller-left.ts'
import type { Caller } from './caller.ts'
import type { KnownRequest } from './known-request.ts'

/** The body of a call: JSON text with its parsed form, or a multipart form that may be in a spool file. */
export type CallBody = JsonBody | { kind: 'form'; form: FormBody }

/** One relayed call as the caller requested it. Only its state changes. */
export interface RelayCall {
  readonly requestId: string
  readonly mode: RelayMode
  /** The caller's dialect. Calls other than conversations have been converted to OpenAI's form by now. */
  readonly dialect: DialectName
  /** OpenAI's path for the mode, e.g. `/v1/chat/completions`. */
  readonly path: string
  readonly caller: Caller
  readonly facts: RequestFacts
  /** Facts about a conversation with many parts, which was read on another thread; absent = it is read here. */
  readonly known?: KnownRequest
  /** What the address says about the request in addition to the body; absent = nothing. */
  readonly address?: RequestAddress
  /** The caller's headers that may go upstream. */
  readonly headers: Readonly<Record<string, string>>
  /** Aborted when the caller leaves. */
  readonly signal: AbortSignal
  /** What to do when the caller leaves. */
  readonly leaving: Leaving
  readonly startedAtMs: number
  readonly state: CallState
}

/** What changes while a call is served. */
export interface CallState {
  /** Empty JSON once nothing can be sent again. */
  body: CallBody
  /** The request in neutral form, once something has asked for it. */
  conversation: Conversation | undefined
  /** Prompt tokens by the quick estimate, or counted if quota is short. Holds and crash charges are based on it. */
  promptGuess: number
  /** Whether the upstream may read more than the request contains; set when the body is dropped. */
  hasUnseenPrompt?: boolean
  /** Quota is held for this call. */
  isHeld?: true
  /** The channels tried so far. */
  readonly attempts: Attempt[]
  /** Names of fields that were dropped or renamed for the channel being tried now. */
  dropped?: readonly string[]
}

/** A WebSocket session as a call: only its model has been requested so far. */
export type SessionCall = Omit<RelayCall, 'mode'> & { mode: 'realtime' }

/** Anything that quota is held for, and that is charged and logged. */
export type AnyCall = RelayCall | SessionCall

/** One attempt at one channel, for the log. */
export interface Attempt {
  channelId: number
  /** HTTP status of the answer; 0 = no answer came. */
  status: number
  /** Why it failed; '' if it did not. */
  error: string
  elapsedMs: number
}

/** The caller's request in neutral form. Throws GatewayError (400). */
export function conversationOf(call: RelayCall): Conversation {
  const { state } = call
  if (state.conversation) return state.conversation
  if (state.body.kind === 'form') throw new GatewayError('invalid_json', 'the request body must be a JSON object')
  const { model, stream } = call.facts
  state.conversation = callerDialects[call.dialect].decodeRequest(state.body.json, { ...call.address, model, stream })
  return state.conversation
}
