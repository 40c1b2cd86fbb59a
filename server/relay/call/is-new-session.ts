import type { AnyCall } from './call.ts'
import { continuedFrom } from './thread-calls.ts'

/**
 * False for a call that continues something that its channel keeps. A channel that is drained still serves such calls.
 */
export function isNewSession(call: AnyCall): boolean {
  return !call.keeper && continuedFrom(call) === undefined
}
