import { GatewayError } from '../../errors.ts'
import type { AnyCall } from '../call/call.ts'
import type { Answer } from '../charging/measure.ts'
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

/** A response in which the model refuses, or which a filter emptied, after which another model is to be asked. */
export class RefusedAnswer extends AttemptFailed {
  readonly exit: RefusalExit
  /** What the response used, which the operator pays. */
  readonly answer: Answer

  constructor(exit: RefusalExit, status: number, answer: Answer) {
    const message = exit === 'refusal' ? 'the model refused to answer' : 'the response was filtered'
    const error = new GatewayError('bad_response_body', message)
    super(error, { retry: false, upstreamFault: false, disable: undefined }, status)
    this.exit = exit
    this.answer = answer
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
