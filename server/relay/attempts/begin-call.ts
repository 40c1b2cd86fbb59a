import { GatewayError } from '../../errors.ts'
import { atStep } from '../call/at-step.ts'
import type { AnyCall } from '../call/call.ts'
import type { RelayDeps } from '../call/deps.ts'
import type { Plan, PlanStep, StepExit } from '../call/plan.ts'
import { noteHealth } from '../failures/note-health.ts'
import { hasFreeChannel } from './free-channel.ts'
import { nextPriced, takeQuota } from './next-channel.ts'
import { type Placed, placeInTurn } from './place-in-turn.ts'
import { stayAtDrained } from './stay-at-drained.ts'
import { exitBefore } from './step-exit.ts'
import { suitableSteps, unableChannels } from './suitable.ts'

/** A call whose quota is held, with the channel for its first attempt. */
export interface Begun<Call extends AnyCall> {
  /**
   * The call, adapted to the step with which it begins. A plan lists the models that may answer the call; each is a
   * step. Without a plan, this is the original call.
   */
  call: Call
  placed: Placed
  /** Ids of the channels that cannot serve the call. */
  skipped: Set<number>
}

/** Chooses the first channel of a call and takes the quota. If it throws GatewayError, no quota is held. */
export function beginCall<Call extends AnyCall>(deps: RelayDeps, call: Call): Promise<Begun<Call>> {
  return call.plan ? beginAtStep(deps, call, call.plan) : begin(deps, call, new Set())
}

async function begin<Call extends AnyCall>(deps: RelayDeps, call: Call, skipped: Set<number>): Promise<Begun<Call>> {
  if (deps.routing().hasDrained) await stayAtDrained(deps, call, skipped)
  const first = nextPriced(deps, call, skipped)
  if (first instanceof GatewayError) throw first
  deps.retryBudget.called(call.facts.model, call.startedAtMs)
  try {
    const placed =
      first.channel.capped === 0
        ? { ...first, hold: await takeQuota(deps, call, first) }
        : await placeInTurn(deps, call, skipped, first)
    return { call, placed, skipped }
  } catch (error) {
    noteHealth(deps, { channel: first.channel, call }, 'undecided')
    throw error
  }
}

/** Begins with the first step of the plan that can serve the call. The steps that are skipped cost nothing. */
async function beginAtStep<Call extends AnyCall>(deps: RelayDeps, call: Call, plan: Plan): Promise<Begun<Call>> {
  const suitable = suitableSteps(deps, call, plan)
  call.state.suitable = suitable
  const reasons: string[] = []
  /** The first step whose channels are all unhealthy. It is tried if no other step can serve the call. */
  let spare: PlanStep | undefined
  let failure: GatewayError | undefined
  for (let step = plan.steps[0]; step; ) {
    const stepCall = atStep(call, step)
    const skipped = unableChannels(deps, stepCall)
    let exit: StepExit
    if (!suitable.has(step)) exit = 'unable'
    else if (isUnhealthy(deps, stepCall, skipped, call.session)) {
      exit = 'no_channel'
      spare ??= step
    } else {
      const begun = await begin(deps, stepCall, skipped).catch(leave)
      if ('call' in begun) return begun
      // Later steps would fail with the same error. But the unhealthy `spare` step may cost less, so it is tried.
      if (begun.exit === undefined && spare) break
      if (begun.exit === undefined) throw begun.error
      exit = begun.exit
      failure = begun.error
      reasons.push(failure.message)
    }
    step = step.next.get(exit)
  }
  if (spare) {
    const stepCall = atStep(call, spare)
    return begin(deps, stepCall, unableChannels(deps, stepCall))
  }
  throw failure && reasons.length === 1 ? failure : noStep(plan, reasons, failure)
}

/**
 * Returns the kind of failure that the error is for the plan, and the error itself. The kind is undefined if the next
 * steps would fail with the same error. Rethrows errors other than GatewayError.
 */
function leave(error: unknown): { exit: StepExit | undefined; error: GatewayError } {
  if (!(error instanceof GatewayError)) throw error
  return { exit: exitBefore(error), error }
}

/**
 * True if the call may continue with another step and no channel of its current step is healthy. A channel that has just
 * broken a stream of `session` counts as unhealthy.
 */
export function isUnhealthy(deps: RelayDeps, call: AnyCall, skipped: ReadonlySet<number>, session?: number): boolean {
  const { step, caller, keeper, facts } = call
  if (!step?.next.has('no_channel') || caller.chosenChannel || keeper) return false
  const candidates = deps.routing().candidates(step.group ?? caller.group, facts.model)
  return candidates.length > 0 && !hasFreeChannel(deps, call, skipped, session)
}

function noStep({ name }: Plan, reasons: readonly string[], last: GatewayError | undefined): GatewayError {
  if (last?.code === 'channels_full') return last
  const why = reasons.length === 0 ? '' : `: ${reasons.join('; ')}`
  return new GatewayError('no_available_channel', `no step of model ${name} can serve this request${why}`)
}
