import type { AnyCall } from './call.ts'
import { continuedFrom } from './thread-calls.ts'

/**
 * False for a call that continues a response or conversation that its channel stores. A channel that is being drained
 * still serves such calls.
 */
export function isNewSession(call: AnyCall): boolean {
  return !call.keeper && continuedFrom(call) === undefined
}
