import type { AnyCall } from './call.ts'
import type { PlanStep } from './plan.ts'

/** The call as it is made for one of its steps. It shares its state with the whole call. */
export function atStep<Call extends AnyCall>(call: Call, step: PlanStep): Call {
  return { ...call, facts: { ...call.facts, model: step.model }, step }
}

/** The group whose channels serve a call. The caller's own group is the one that is charged. */
export function servingGroup({ step, caller }: Pick<AnyCall, 'step' | 'caller'>): string {
  return step?.group ?? caller.group
}
