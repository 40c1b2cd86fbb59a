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
  /** The caller's dialect. Calls that are not conversations have already been converted to OpenAI's format. */
  readonly dialect: DialectName
  /** OpenAI's path for the mode, e.g. `/v1/chat/completions`. */
  readonly path: string
  readonly caller: Caller
  readonly facts: RequestFacts
  /**
   * Facts about a conversation that was read on another thread, because it has many parts. Absent if the conversation
   * is read on the main thread.
   */
  readonly known?: KnownRequest | undefined
  /** What the URL specifies about the request in addition to the body; absent = nothing. */
  readonly address?: RequestAddress | undefined
  /**
   * Set if the response is a summary that replaces the conversation. `call`: the caller used the endpoint for
   * compaction. `item`: the last item of the input is a `compaction_trigger`, and the response consists of one
   * compaction item. Absent = an ordinary response.
   */
  readonly compacts?: 'call' | 'item' | undefined
  /**
   * The service generates the response in the background, and the caller fetches it later; absent = the response is
   * returned by this call.
   */
  readonly inBackground?: true | undefined
  /** The caller's headers that may be sent upstream. */
  readonly headers: Readonly<Record<string, string>>
  /** Aborted when the caller disconnects. */
  readonly signal: AbortSignal
  /**
   * The channel and key that store the response or conversation from which the call continues; absent = any channel can
   * serve the call.
   */
  readonly keeper?: ThreadKeeper | undefined
  /** What to do when the caller disconnects. */
  readonly leaving: Leaving
  readonly startedAtMs: number
  /**
   * When the request arrived (`arrivedAtMs`), and the caller's deadline for it (`endsByMs`; absent = none). Both are
   * times on the deadline clock.
   */
  readonly arrivedAtMs: number
  readonly endsByMs?: number | undefined
  /**
   * A hash of the call's session. Calls of the same session prefer the same channel. Absent = the call belongs to no
   * session.
   */
  readonly session?: number | undefined
  /** The models that may answer; absent = only the model that was requested. */
  readonly plan?: Plan | undefined
  /**
   * The step of the plan that is being tried; its model is `facts.model`. Absent = there is no plan, or no step has
   * begun.
   */
  readonly step?: PlanStep | undefined
  /** How the call was made, for its log row; absent in calls that have no row. */
  readonly described?: CallDescription | undefined
  /** The broken stream that the call continues; absent = the call begins a new answer. */
  readonly goesOn?: GoesOn | undefined
  /** Records the call; absent = it is not recorded. */
  readonly recording?: Recording | undefined
  readonly state: CallState
}

/** The data of a call that changes while the call is served. */
export interface CallState {
  /** Replaced by empty JSON once the request cannot be sent again. */
  body: CallBody
  /** The request in neutral form (decoded, independent of the dialect); undefined until it is first needed. */
  conversation: Conversation | undefined
  /**
   * The number of prompt tokens: a quick estimate, or the exact count if the caller has little quota left. It
   * determines the size of the hold, and the charge if the process crashes.
   */
  promptGuess: number
  /**
   * True if the upstream may read a longer prompt than the request contains, for example files or a stored prompt. Set
   * when the body is dropped.
   */
  hasUnseenPrompt?: boolean
  /** Whether the channel and key being tried now are those of the call's session; absent = the call has no session. */
  isAtPlace?: boolean
  /**
   * The channel on which the call's session may stay although it is being drained (accepts no new sessions); absent =
   * none.
   */
  staysAt?: number
  /** Milliseconds for which the call waited for capacity on a channel; absent = it did not wait. */
  waitedMs?: number
  /** The features that the call needs from a service; absent = not determined yet. */
  needs?: ReadonlySet<Feature>
  /** The steps whose models can probably serve the call; absent = the call has no steps. */
  suitable?: ReadonlySet<PlanStep>
  /**
   * What the operator paid, in quota units, for attempts whose responses were discarded; null = not known, absent =
   * nothing.
   */
  lostCost?: number | null
  /** Set if the caller gets the refusal of an earlier step, because no later step of the virtual model could answer. */
  isPlayedBack?: true
  /** Set if quota is held for this call. */
  isHeld?: true
  /** The dialect of the last request that was prepared for an upstream, if the call is a conversation. */
  upstreamDialect?: string
  /** The attempts made so far. */
  readonly attempts: Attempt[]
  /** Names of fields that were dropped or renamed for the channel being tried now. */
  dropped?: readonly string[]
}

/** A WebSocket session. It is handled like a call, but its request specifies only a model. */
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
