import type { RelayDeps } from '../call/deps.ts'
import { type Answer, measure } from './measure.ts'
import { chargeOf, type OpenCall } from './settlement.ts'

/**
 * Adds the cost of an attempt whose response is given up to the costs of its call, because the upstream charges the
 * operator for it. The caller pays nothing for it. From then on the cost of the call is unknown if this one is.
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
