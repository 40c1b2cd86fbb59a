import type { AnyCall } from './call.ts'
import type { PlanStep } from './plan.ts'

/**
 * A copy of the call for one step of its plan. Each step is a model that may answer the call. The copy and the original
 * call share their state.
 */
export function atStep<Call extends AnyCall>(call: Call, step: PlanStep): Call {
  return { ...call, facts: { ...call.facts, model: step.model }, step }
}

/** The group whose channels serve a call. The price always depends on the caller's own group. */
export function servingGroup({ step, caller }: Pick<AnyCall, 'step' | 'caller'>): string {
  return step?.group ?? caller.group
}
