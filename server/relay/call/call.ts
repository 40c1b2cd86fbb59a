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

/** The body of a call: JSON text with its parsed form, or a multipart form that may lie in a spool file. */
export type CallBody = JsonBody | { kind: 'form'; form: FormBody }

/** One relayed call as the caller asked it. */
export interface RelayCall {
  requestId: string
  mode: RelayMode
  /** What the caller speaks. Calls that are no conversations are in OpenAI's form by now, whatever they came in. */
  dialect: DialectName
  /** OpenAI's path for the mode, e.g. `/v1/chat/completions`. */
  path: string
  caller: Caller
  body: CallBody
  facts: RequestFacts
  /** What is known of a conversation with many parts, which was read elsewhere; absent = it is read here. */
  known?: KnownRequest
  /** What the address says of the request beside the body; absent = nothing. */
  address?: RequestAddress
  /** The request in no dialect, once somebody asked for it. */
  conversation: Conversation | undefined
  /** Prompt tokens by the quick estimate, or as counted where quota is short; what holds and crash charges are sized by. */
  promptGuess: number
  /** The caller's headers that may go upstream. */
  headers: Readonly<Record<string, string>>
  /** Aborted when the caller leaves. */
  signal: AbortSignal
  /** What is done then. */
  leaving: Leaving
  startedAtMs: number
  /** The channels that were asked so far. */
  attempts: Attempt[]
  /** Quota is held for it. */
  isHeld?: true
  /** Names of what was left out, or told under another name, at the channel that is asked now. */
  dropped?: readonly string[]
}

/** A session by WebSocket, as a call: nothing is asked yet but the model. */
export type SessionCall = Omit<RelayCall, 'mode'> & { mode: 'realtime' }

/** Whatever is held for, charged and logged. */
export type AnyCall = RelayCall | SessionCall

/** One attempt at one channel, for the log. */
export interface Attempt {
  channelId: number
  /** HTTP status of the answer; 0 = none came. */
  status: number
  /** Why it failed; '' when it did not. */
  error: string
  elapsedMs: number
}

/** What a caller asks for, in no dialect. Throws GatewayError (400). */
export function conversationOf(call: RelayCall): Conversation {
  if (call.conversation) return call.conversation
  if (call.body.kind === 'form') throw new GatewayError('invalid_json', 'the request body must be a JSON object')
  const { model, stream } = call.facts
  call.conversation = callerDialects[call.dialect].decodeRequest(call.body.json, { ...call.address, model, stream })
  return call.conversation
}
