import { GatewayError } from '../../errors.ts'
import type { AnyCall, CallState } from '../call/call.ts'
import type { Answer } from '../charging/measure.ts'
import type { OpenCall } from '../charging/settlement.ts'
import { AttemptFailed } from './retry-policy.ts'

/** How one choice of a response ended. */
export interface Stopped {
  /** A neutral reason. */
  reason: string
  /** It says nothing but that it refuses. */
  isEmpty: boolean
}

/** The two ways in which a response refuses, as kinds of failure of a virtual model. */
type RefusalExit = 'refusal' | 'content_filter'

/** A response that refuses, with all that is needed to deliver it if no other step can answer. */
export interface Refusal {
  readonly exit: RefusalExit
  readonly status: number
  /** The call that was refused. */
  readonly open: OpenCall
  /** What the response used. The operator pays it, unless the response is delivered after all. */
  readonly answer: Answer
  /** Delivers and charges the response, as if it had not been held back. Absent if it cannot be delivered any more. */
  readonly deliver?: (() => Promise<Response>) | undefined
}

/** What the state of a call says about its last attempt. */
type AttemptState = Pick<CallState, 'lostCost' | 'isAtPlace' | 'upstreamDialect' | 'dropped'>

/** A response in which the model refuses, or which a filter emptied, for which another model shall be asked. */
export class RefusedAnswer extends AttemptFailed {
  readonly refusal: Refusal
  /** The state of the call when the response arrived. */
  readonly state: Readonly<Record<keyof AttemptState, unknown>>
  /** The index of its attempt in those of the call. The attempt is noted next. */
  readonly attempt: number

  constructor(refusal: Refusal) {
    const message = refusal.exit === 'refusal' ? 'the model refused to answer' : 'the response was filtered'
    const error = new GatewayError('bad_response_body', message)
    super(error, { retry: false, upstreamFault: false, disable: undefined }, refusal.status)
    this.refusal = refusal
    const { attempts, lostCost, isAtPlace, upstreamDialect, dropped } = refusal.open.call.state
    this.attempt = attempts.length
    this.state = { lostCost, isAtPlace, upstreamDialect, dropped }
  }
}

/** True if the virtual model of the call continues with another step after a refusal or a content filter. */
export function leavesRefusals({ step }: AnyCall): boolean {
  return step !== undefined && (step.next.has('refusal') || step.next.has('content_filter'))
}

/**
 * The exit of a response that only refuses, or that a filter emptied, if the call's virtual model continues with
 * another step in that case.
 */
export function exitOfRefusal({ step }: AnyCall, stops: readonly Stopped[]): RefusalExit | undefined {
  if (stops.length === 0 || !stops.every(({ isEmpty }) => isEmpty)) return undefined
  const isFiltered = stops.some(({ reason }) => reason === 'content-filter')
  const exit = isFiltered ? 'content_filter' : 'refusal'
  const isRefused = isFiltered || stops.every(({ reason }) => reason === 'refusal')
  return isRefused && step?.next.has(exit) ? exit : undefined
}
