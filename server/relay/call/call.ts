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

/** One relayed call as the caller requested it. */
export interface RelayCall {
  requestId: string
  mode: RelayMode
  /** The caller's dialect. Calls other than conversations have been converted to OpenAI's form by now. */
  dialect: DialectName
  /** OpenAI's path for the mode, e.g. `/v1/chat/completions`. */
  path: string
  caller: Caller
  body: CallBody
  facts: RequestFacts
  /** Facts about a conversation with many parts, which was read on another thread; absent = it is read here. */
  known?: KnownRequest
  /** What the address says about the request in addition to the body; absent = nothing. */
  address?: RequestAddress
  /** The request in neutral form, once something has asked for it. */
  conversation: Conversation | undefined
  /** Prompt tokens by the quick estimate, or counted if quota is short. Holds and crash charges are based on it. */
  promptGuess: number
  /** The caller's headers that may go upstream. */
  headers: Readonly<Record<string, string>>
  /** Aborted when the caller leaves. */
  signal: AbortSignal
  /** What to do when the caller leaves. */
  leaving: Leaving
  startedAtMs: number
  /** The channels tried so far. */
  attempts: Attempt[]
  /** Quota is held for this call. */
  isHeld?: true
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
  if (call.conversation) return call.conversation
  if (call.body.kind === 'form') throw new GatewayError('invalid_json', 'the request body must be a JSON object')
  const { model, stream } = call.facts
  call.conversation = callerDialects[call.dialect].decodeRequest(call.body.json, { ...call.address, model, stream })
  return call.conversation
}
