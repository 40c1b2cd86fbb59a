import type { RelayDeps } from '../call/deps.ts'
import { type Answer, measure } from './measure.ts'
import { chargeOf, type OpenCall } from './settlement.ts'

/**
 * Adds the cost of an attempt to the costs of its call, after the response of the attempt was given up. The upstream
 * charges the operator for such an attempt, but the caller pays nothing for it. If the cost of the attempt is unknown,
 * the cost of the call becomes unknown.
 */
export async function addLostCost(deps: RelayDeps, open: OpenCall, answer: Answer): Promise<void> {
  const { state } = open.call
  const { cost } = open.charging
  if (!cost || state.lostCost === null) {
    state.lostCost = null
    return
  }
  const { measure: measured } = await measure(deps, open, answer)
  state.lostCost = (state.lostCost ?? 0) + chargeOf(open, measured, cost).quota
}
