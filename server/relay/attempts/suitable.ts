import type { ModelFacts } from '../../../contract/api/model.ts'
import { type Feature, needsOf } from '../../dialects/neutral/needs.ts'
import { GatewayError } from '../../errors.ts'
import { translatedLimits } from '../body/json-limits.ts'
import { atStep, servingGroup } from '../call/at-step.ts'
import { type AnyCall, conversationOf } from '../call/call.ts'
import type { RelayDeps } from '../call/deps.ts'
import type { Plan, PlanStep } from '../call/plan.ts'
import { type Channel, mappedModel } from '../routing/routing-table.ts'
import { serves } from '../routing/select-channel.ts'
import { endpointsOf, isChat } from '../upstream/call-endpoint.ts'

type SuitDeps = Pick<RelayDeps, 'routing' | 'unsupportedFeatures' | 'modelFacts'>

/**
 * The prompt's length is only an estimate, so a context counts as too short only if the estimate exceeds it by this
 * factor.
 */
const certainlyLonger = 1.5

/** The channels that could serve a call, whether they are healthy or not. */
export function servingChannels(deps: Pick<RelayDeps, 'routing'>, call: AnyCall): readonly Channel[] {
  const { chosenChannel } = call.caller
  if (chosenChannel) return [chosenChannel]
  const { model } = call.facts
  const candidates = deps.routing().allCandidates(servingGroup(call), model)
  return candidates.map(({ channel }) => channel).filter((channel) => serves(channel, call.mode, model))
}

/** The features that a call needs but a channel's service does not have. */
export function lackedBy(deps: Pick<RelayDeps, 'unsupportedFeatures'>, call: AnyCall, channel: Channel): Feature[] {
  if (call.mode !== 'chat') return []
  const [endpoint] = endpointsOf(deps, call, channel, mappedModel(channel, call.facts.model))
  if (!isChat(endpoint) || !endpoint.lacks) return []
  const needs = needsOfCall(call)
  return endpoint.lacks.filter((feature) => needs.has(feature))
}

/** The channels that are known not to be able to serve a call, so that they need not be tried. */
export function unableChannels(deps: SuitDeps, call: AnyCall): Set<number> {
  const unable = servingChannels(deps, call).filter((channel) => lackedBy(deps, call, channel).length > 0)
  return new Set(unable.map(({ id }) => id))
}

/**
 * The steps of a plan, except those whose models are known to be unable to serve the call. If that would exclude all
 * steps, the model data may be wrong, and all steps are returned.
 */
export function suitableSteps(deps: SuitDeps, call: AnyCall, plan: Plan): ReadonlySet<PlanStep> {
  if (plan.steps.length === 1) return new Set(plan.steps)
  const suitable = plan.steps.filter((step) => unsuitability(deps, atStep(call, step)) === undefined)
  return new Set(suitable.length === 0 ? plan.steps : suitable)
}

/**
 * Why no channel of a step can serve the call, according to the known facts about the step's models. Undefined if a
 * channel may be able to.
 */
export function unsuitability(deps: SuitDeps, call: AnyCall): string | undefined {
  const models = new Set(servingChannels(deps, call).map((channel) => mappedModel(channel, call.facts.model)))
  let why: string | undefined
  for (const model of models) {
    const facts = deps.modelFacts(model)
    const lacks = facts && lackedByModel(call, facts)
    if (lacks === undefined) return undefined
    why = `model ${model} ${lacks}`
  }
  return why
}

function lackedByModel(call: AnyCall, facts: ModelFacts): string | undefined {
  if (call.mode !== 'chat') return undefined
  const { promptGuess } = call.state
  if (facts.context !== undefined && promptGuess > facts.context * certainlyLonger)
    return `has a context of ${facts.context} tokens`
  const needs = needsOfCall(call)
  if (needs.has('tools') && !facts.tools) return 'does not call tools'
  if (needs.has('images') && !facts.reads.includes('image')) return 'does not read images'
  if (needs.has('audio') && ![...facts.reads, ...facts.writes].includes('audio')) return 'has no audio'
  return undefined
}

const nothing: ReadonlySet<Feature> = new Set()

/** The features that a call needs. Empty if the request is invalid; the attempt then reports the error. */
function needsOfCall(call: AnyCall): ReadonlySet<Feature> {
  if (call.mode !== 'chat') return nothing
  if (call.known) return call.known.needs
  const { body, needs } = call.state
  if (needs) return needs
  const isHeavy = body.kind !== 'json' || (body.containers ?? 0) > translatedLimits.containers
  try {
    call.state.needs = isHeavy ? nothing : needsOf(conversationOf(call))
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error
    call.state.needs = nothing
  }
  return call.state.needs
}
