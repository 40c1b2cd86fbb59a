import { GatewayError } from '../../errors.ts'
import type { AnyCall, CallState } from '../call/call.ts'
import type { Answer } from '../charging/measure.ts'
import type { OpenCall } from '../charging/settlement.ts'
import { AttemptFailed } from './retry-policy.ts'

/** How one choice of a response ended. */
export interface Stopped {
  /** The stop reason in neutral form, which is the same for all API formats. */
  reason: string
  /** True if the choice has no content except the refusal. */
  isEmpty: boolean
}

/** The two kinds of refusal, by their names as failures of a virtual model. */
type RefusalExit = 'refusal' | 'content_filter'

/** A response that is a refusal, with everything that is needed to deliver it if no other step can answer. */
export interface Refusal {
  readonly exit: RefusalExit
  readonly status: number
  /** The call that was refused. */
  readonly open: OpenCall
  /**
   * The parts of the response from which its usage is measured. The operator bears the cost unless the response is
   * delivered after all.
   */
  readonly answer: Answer
  /** Delivers and charges the response in the usual way. Absent if the response can no longer be delivered. */
  readonly deliver?: (() => Promise<Response>) | undefined
}

/** The fields of a call's state that describe its last attempt. */
type AttemptState = Pick<CallState, 'lostCost' | 'isAtPlace' | 'upstreamDialect' | 'dropped'>

/** Thrown for a response that is a refusal or was emptied by a filter, so that another model is asked. */
export class RefusedAnswer extends AttemptFailed {
  readonly refusal: Refusal
  /** The state of the call when the response arrived. */
  readonly state: Readonly<Record<keyof AttemptState, unknown>>
  /**
   * The index that the attempt will have in the call's list of attempts. The attempt is added to the list after this
   * error is created.
   */
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
 * The kind of failure of a response that contains only a refusal, or that a filter emptied. Undefined unless the call's
 * virtual model continues with another step after such a failure.
 */
export function exitOfRefusal({ step }: AnyCall, stops: readonly Stopped[]): RefusalExit | undefined {
  if (stops.length === 0 || !stops.every(({ isEmpty }) => isEmpty)) return undefined
  const isFiltered = stops.some(({ reason }) => reason === 'content-filter')
  const exit = isFiltered ? 'content_filter' : 'refusal'
  const isRefused = isFiltered || stops.every(({ reason }) => reason === 'refusal')
  return isRefused && step?.next.has(exit) ? exit : undefined
}
