import type { RelayMode } from '../../../contract/relay-modes.ts'
import type { Recording } from '../../captures/recording.ts'
import { callerDialects } from '../../dialects/caller-dialects.ts'
import type { Conversation, DialectName } from '../../dialects/neutral/conversation.ts'
import type { RequestAddress, RequestFacts } from '../../dialects/neutral/dialect.ts'
import type { Feature } from '../../dialects/neutral/needs.ts'
import { GatewayError } from '../../errors.ts'
import type { FormBody } from '../body/form-body.ts'
import type { JsonBody } from '../body/json-body.ts'
import type { Leaving } from '../cancellation/caller-left.ts'
import type { CallDescription } from './call-description.ts'
import type { Caller } from './caller.ts'
import type { GoesOn } from './goes-on.ts'
import type { KnownRequest } from './known-request.ts'
import type { Plan, PlanStep } from './plan.ts'
import type { ThreadKeeper } from './threads.ts'

/** The body of a call: JSON text with its parsed form, or a multipart form that may be in a spool file. */
export type CallBody = JsonBody | { kind: 'form'; form: FormBody }

/** One relayed call as the caller requested it. Only its state changes. */
export interface RelayCall {
  readonly requestId: string
  readonly mode: RelayMode
  /** The caller's dialect. By this point, calls other than conversations have been converted to OpenAI's format. */
  readonly dialect: DialectName
  /** OpenAI's path for the mode, e.g. `/v1/chat/completions`. */
  readonly path: string
  readonly caller: Caller
  readonly facts: RequestFacts
  /**
   * Facts about a conversation that was read on another thread, because it has many parts. Absent if the conversation
   * is read here.
   */
  readonly known?: KnownRequest | undefined
  /** What the URL specifies about the request in addition to the body; absent = nothing. */
  readonly address?: RequestAddress | undefined
  /**
   * The response replaces the conversation: `call` is a call of its own, `item` is a response with one item, requested
   * by the last item of the input. Absent = an ordinary response.
   */
  readonly compacts?: 'call' | 'item' | undefined
  /** The service makes the response in the background, and the caller fetches it; absent = the call gets the response. */
  readonly inBackground?: true | undefined
  /** The caller's headers that may be sent upstream. */
  readonly headers: Readonly<Record<string, string>>
  /** Aborted when the caller disconnects. */
  readonly signal: AbortSignal
  /** The channel and key that store what the call continues from; absent = any will do. */
  readonly keeper?: ThreadKeeper | undefined
  /** What to do when the caller disconnects. */
  readonly leaving: Leaving
  readonly startedAtMs: number
  /** When the request arrived, and when its caller wants it to be over, on the deadline clock; absent = no limit. */
  readonly arrivedAtMs: number
  readonly endsByMs?: number | undefined
  /** A hash of the session, if there is a choice to make for it; absent = the call can be served anywhere. */
  readonly session?: number | undefined
  /** The models that may answer; absent = only the model that was requested. */
  readonly plan?: Plan | undefined
  /** The step of the plan that is being tried, whose model is then `facts.model`; absent = there is no plan, or not yet. */
  readonly step?: PlanStep | undefined
  /** How the call was made, for its log row; absent in calls that have no row. */
  readonly described?: CallDescription | undefined
  /** The broken stream that the call continues; absent = the call begins a new answer. */
  readonly goesOn?: GoesOn | undefined
  /** Records the call; absent = it is not recorded. */
  readonly recording?: Recording | undefined
  readonly state: CallState
}

/** What changes while a call is served. */
export interface CallState {
  /** Replaced by empty JSON once the request cannot be sent again. */
  body: CallBody
  /** The request in neutral form, once some code has needed it. */
  conversation: Conversation | undefined
  /**
   * The number of prompt tokens: the quick estimate, or the exact count if quota is short. Holds and crash charges are
   * based on it.
   */
  promptGuess: number
  /** Whether the upstream may read more than the request contains; set when the body is dropped. */
  hasUnseenPrompt?: boolean
  /** Whether the channel and key being tried now are the place of the call's session; absent = it has no session. */
  isAtPlace?: boolean
  /** The drained channel on which the call's session may stay; absent = none. */
  staysAt?: number
  /** Milliseconds for which the call waited for a place on a channel; absent = it did not wait. */
  waitedMs?: number
  /** What the call needs from a service, once some code has asked. */
  needs?: ReadonlySet<Feature>
  /** The steps whose models can serve the call, for all that is known; absent = the call has no steps. */
  suitable?: ReadonlySet<PlanStep>
  /**
   * What attempts whose responses were given up cost the operator, in quota units; null = not known, absent = nothing.
   */
  lostCost?: number | null
  /** No other step could answer, so the caller gets a refusal that had been held back. */
  isPlayedBack?: true
  /** Quota is held for this call. */
  isHeld?: true
  /** The dialect of the last request that was prepared for an upstream, if the call is a conversation. */
  upstreamDialect?: string
  /** The attempts made so far. */
  readonly attempts: Attempt[]
  /** Names of fields that were dropped or renamed for the channel being tried now. */
  dropped?: readonly string[]
}

/** A WebSocket session, treated as a call that so far has requested only a model. */
export type SessionCall = Omit<RelayCall, 'mode'> & { mode: 'realtime' }

/** Any call for which quota is held and which is charged and logged. */
export type AnyCall = RelayCall | SessionCall

/** One attempt at one channel, for the log. */
export interface Attempt {
  channelId: number
  /** HTTP status of the response; 0 = no response arrived. */
  status: number
  /** Why the attempt failed; '' if it did not fail. */
  error: string
  elapsedMs: number
  /** The model of the step; absent if the call has no steps. */
  model?: string
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
