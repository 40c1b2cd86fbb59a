import { type StepFailure, usualStepFailures } from '../../../contract/step-failures.ts'
import type { CostRates } from '../../billing/cost-sheet.ts'
import { GatewayError } from '../../errors.ts'
import { hashNumber, hashText } from '../../lib/quick-hash.ts'
import { rankOf } from '../routing/rendezvous.ts'
import type { RoutingTable } from '../routing/routing-table.ts'
import type { VirtualModel, VirtualStep } from '../routing/virtual-models.ts'
import { type Caller, requireModel } from './caller.ts'
import type { ThreadKeeper } from './threads.ts'

/**
 * Why the next step is tried: the current step failed, or it is `unable` to serve the call. If it is `unable`, the next
 * step is always tried.
 */
export type StepExit = StepFailure | 'unable'

/** One model that may answer a call. */
export interface PlanStep {
  readonly model: string
  /** The group whose channels serve the step; undefined = the caller's group. */
  readonly group: string | undefined
  readonly firstTokenTimeoutMs: number | undefined
  /** A fixed price; undefined = the price of the model. */
  readonly price: CostRates | undefined
  /** The step to take after each kind of failure; absent = the call has failed. */
  readonly next: ReadonlyMap<StepExit, PlanStep>
}

/** The models that may answer a call that requests a virtual model or lists several models. */
export interface Plan {
  /** The model that was requested. */
  readonly name: string
  /** At least one step, in the order in which they are tried. */
  readonly steps: readonly PlanStep[]
  /** Whether a broken stream is continued; undefined = as set in the options. */
  readonly streamRescue: boolean | undefined
}

/** The properties of the caller that determine the steps of a call. */
export type Planner = Pick<Caller, 'group' | 'allowedModels' | 'chosenChannel'>

/** The data that determines the steps of a call. */
interface Planning {
  readonly routing: RoutingTable
  readonly caller: Planner
  /** The channel and key that store the response or conversation from which the call continues. */
  readonly keeper?: ThreadKeeper | undefined
  /**
   * A hash of the session, or of the request id if the call has no session. It selects the first of several weighted
   * steps; absent = the step with the largest weight comes first.
   */
  readonly seed?: number | undefined
}

/** The most steps of a call, however deeply virtual models are nested. */
const mostSteps = 32

/**
 * The steps of a call for `model`. Undefined if `model` is not a virtual model. Throws GatewayError (model_not_allowed)
 * if the token may use none of the steps, and GatewayError (no_available_channel) if no step is left for another
 * reason.
 */
export function planOf(planning: Planning, model: string): Plan | undefined {
  const virtual = planning.routing.virtual(planning.caller.group, model)
  if (!virtual) return undefined
  const steps: PlanStep[] = []
  addVirtual({ ...planning, steps, path: new Set() }, virtual, { after: new Map(), isAllowed: false })
  if (steps.length === 0) throw noSteps(planning, model)
  return { name: model, steps: steps.reverse(), streamRescue: virtual.streamRescue }
}

/**
 * The steps of a call whose caller names several models. Throws GatewayError (model_not_allowed) if the token may not
 * use one of them, and GatewayError (no_available_channel) if no model can be tried.
 */
export function planOfModels(planning: Planning, models: readonly string[]): Plan {
  const { routing, caller } = planning
  for (const model of models) if (!planOf(planning, model)) requireModel(caller, model)
  const [name = ''] = models
  const steps: PlanStep[] = []
  const listed = { ...callersList, steps: models.map((model) => ({ ...plainStep, model })) }
  addVirtual({ ...planning, steps, path: new Set() }, listed, { after: new Map(), isAllowed: false, isCallers: true })
  if (steps.length === 0) throw noSteps(planning, name)
  const { streamRescue } = routing.virtual(caller.group, name) ?? callersList
  return { name, steps: steps.reverse(), streamRescue }
}

const plainStep = { group: undefined, weight: 0, firstTokenTimeoutMs: undefined }
/**
 * The settings that a list of models from the caller uses in place of a virtual model's settings. The name '' belongs
 * to no model.
 */
const callersList: VirtualModel = {
  name: '',
  steps: [],
  failures: new Set(usualStepFailures),
  price: undefined,
  groups: undefined,
  isEnabled: true,
  streamRescue: undefined,
}

/** The hash by which a call without a session chooses among weighted steps. Undefined if `requestId` is ''. */
export function seedOf(requestId: string): number | undefined {
  return requestId === '' ? undefined : hashText(0, requestId)
}

interface Expanding extends Planning {
  /** The steps that have been added, the last one first. */
  readonly steps: PlanStep[]
  /** The virtual models that are being expanded. */
  readonly path: Set<string>
}

/** What the steps of a virtual model inherit from the step that names it. */
interface Inherited {
  /** The step that follows the last of these steps, for each kind of failure. */
  readonly after: ReadonlyMap<StepExit, PlanStep>
  /** True if the token may use all steps, because it may use the virtual model. */
  readonly isAllowed: boolean
  /** Set if the caller has listed the steps. The caller can then use only the virtual models of its own group. */
  readonly isCallers?: true
  readonly group?: string | undefined
  readonly price?: CostRates | undefined
  readonly firstTokenTimeoutMs?: number | undefined
}

/**
 * Adds the steps of a virtual model, from the last to the first, because each step refers to those after it. Returns
 * the first step; undefined if none is left.
 */
function addVirtual(expanding: Expanding, virtual: VirtualModel, inherited: Inherited): PlanStep | undefined {
  const { caller, path } = expanding
  // Cycles are refused when a model is saved in the console or through the API, but a row of the database may have been
  // written by another program.
  if (path.has(virtual.name)) return undefined
  path.add(virtual.name)
  const isAllowed = inherited.isAllowed || !caller.allowedModels || caller.allowedModels.has(virtual.name)
  const price = inherited.price ?? virtual.price
  let first: PlanStep | undefined
  let { after } = inherited
  for (const step of inOrder(virtual.steps, expanding.seed).reverse()) {
    const added = addStep(expanding, step, { ...inherited, after, isAllowed, price })
    if (!added) continue
    first = added
    const exits = new Map(inherited.after).set('unable', added)
    for (const failure of virtual.failures) exits.set(failure, added)
    after = exits
  }
  path.delete(virtual.name)
  return first
}

function addStep(expanding: Expanding, step: VirtualStep, inherited: Inherited): PlanStep | undefined {
  const { routing, caller, steps } = expanding
  const group = step.group ?? inherited.group
  const firstTokenTimeoutMs = step.firstTokenTimeoutMs ?? inherited.firstTokenTimeoutMs
  const inner = inherited.isCallers ? routing.virtual(caller.group, step.model) : routing.virtuals().get(step.model)
  if (inner?.isEnabled) {
    const { isCallers: _, ...below } = inherited
    return addVirtual(expanding, inner, { ...below, group, firstTokenTimeoutMs })
  }
  const isAllowed = inherited.isAllowed || caller.allowedModels?.has(step.model)
  if (!isAllowed || steps.length >= mostSteps || !isWithin(expanding, step.model, group)) return undefined
  const added = { model: step.model, group, firstTokenTimeoutMs, price: inherited.price, next: inherited.after }
  steps.push(added)
  return added
}

/** Whether the step can be served by the channel that the caller chose or that stores the conversation. */
function isWithin({ routing, caller, keeper }: Planning, model: string, group = caller.group): boolean {
  const { chosenChannel } = caller
  if (chosenChannel) return chosenChannel.models.includes(model) || chosenChannel.modelMapping.has(model)
  return !keeper || routing.allCandidates(group, model).some(({ channel }) => channel.id === keeper.channelId)
}

/** The steps in order. Adjacent steps with a weight share the sessions in proportion to their weights. */
function inOrder(steps: readonly VirtualStep[], seed: number | undefined): VirtualStep[] {
  const ordered: VirtualStep[] = []
  for (let from = 0; from < steps.length; ) {
    let to = from + 1
    while (steps[from]?.weight && steps[to]?.weight) to++
    const ranked = steps.slice(from, to).map((step, index) => ({ step, rank: rankIn(step, from + index, seed) }))
    ordered.push(...ranked.sort((a, b) => a.rank - b.rank).map(({ step }) => step))
    from = to
  }
  return ordered
}

const stepSeed = 0x57e9

function rankIn({ weight }: VirtualStep, index: number, seed: number | undefined): number {
  if (seed === undefined || weight === 0) return -weight
  // This hash differs from the hash by which channels are chosen. Otherwise, all sessions of a step would prefer the
  // same channels.
  return rankOf(hashNumber(seed, stepSeed), index, weight)
}

function noSteps({ caller, keeper }: Planning, model: string): GatewayError {
  const isRefused = caller.allowedModels && !caller.allowedModels.has(model) && !keeper && !caller.chosenChannel
  return isRefused
    ? new GatewayError('model_not_allowed', `this token is not allowed to use model ${model}`, { param: 'model' })
    : new GatewayError('no_available_channel', `no step of model ${model} can serve this request`)
}
