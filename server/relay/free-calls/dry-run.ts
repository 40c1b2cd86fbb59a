import type {
  DryRun,
  DryRunChannel,
  DryRunReason,
  DryRunRequest,
  DryRunStep,
} from '../../../contract/api/virtual-model.ts'
import { roles } from '../../../contract/roles.ts'
import { channelStatus, tokenStatus, userStatus } from '../../../contract/statuses.ts'
import { type StepFailure, stepFailures } from '../../../contract/step-failures.ts'
import { pricesOf } from '../../billing/price-list.ts'
import { GatewayError } from '../../errors.ts'
import type { Store } from '../../store/store.ts'
import { ceilingOf } from '../attempts/dearest.ts'
import { lackedBy, suitableSteps, unsuitability } from '../attempts/suitable.ts'
import { atStep, servingGroup } from '../call/at-step.ts'
import type { RelayCall } from '../call/call.ts'
import { callRouteOf } from '../call/call-routes.ts'
import type { Caller } from '../call/caller.ts'
import type { RelayDeps } from '../call/deps.ts'
import { orderFor } from '../call/order-for.ts'
import type { PlanStep } from '../call/plan.ts'
import { chargingFor } from '../charging/charging.ts'
import type { Charging } from '../charging/charging-types.ts'
import { buildCall } from '../request/build-call.ts'
import { inOrder } from '../routing/channel-order.ts'
import { type Candidate, type Channel, mappedModel, type RoutingTable } from '../routing/routing-table.ts'
import { serves } from '../routing/select-channel.ts'
import { type VirtualModel, virtualModelOf } from '../routing/virtual-models.ts'
import { type Circumstances, circumstancesOf } from './circumstances.ts'

type DryDeps = RelayDeps & Pick<Circumstances, 'fullLimit'>

const question = {
  '/v1/chat/completions': { messages: [{ role: 'user', content: 'Hello' }] },
  '/v1/responses': { input: 'Hello' },
  '/v1/messages': { max_tokens: 1024, messages: [{ role: 'user', content: 'Hello' }] },
  '/v1/embeddings': { input: 'Hello' },
} as const

/**
 * Reports what would happen if a caller of the group sent the request now. It makes the same choices as a real call,
 * but holds no quota and calls no service. The health of channels is read but not changed.
 */
export async function dryRun(relay: RelayDeps, store: Store, request: DryRunRequest): Promise<DryRun> {
  const { path, draft } = request
  const model = draft?.name ?? request.model
  const drafted = draft ? { routing: () => withDraft(relay.routing(), virtualModelOf(draft)) } : {}
  const found = await circumstancesOf(relay, store, request.token_id).catch(refusalOf)
  const deps: DryDeps = {
    ...relay,
    ...drafted,
    fullLimit: found && 'fullLimit' in found ? found.fullLimit : () => undefined,
  }
  const known = found && 'fullLimit' in found ? found : undefined
  const caller = known?.caller ?? nobody(request.group)
  const { group } = caller
  const report = { model, group, virtual: deps.routing().virtual(group, model) !== undefined }
  const empty = { ...report, prompt_tokens: 0, hold: 0, steps: [] }
  if (found && !known) return { ...empty, refusal: found as DryRun['refusal'] }
  let call: RelayCall
  try {
    const json = { ...(Object.keys(request.request).length > 0 ? request.request : question[path]), model }
    call = callFor(deps, caller, path, json)
  } catch (error) {
    return { ...empty, refusal: refusalOf(error) }
  }
  call.leaving.close()
  const suitable = call.plan && suitableSteps(deps, call, call.plan)
  const steps = (call.plan?.steps ?? [undefined]).map((step) => stepReport(deps, call, step, suitable))
  const places = placesOf(steps)
  const first = places.indexOf(1)
  const firstCall = callAt(call, call.plan?.steps[first])
  return {
    ...report,
    prompt_tokens: call.state.promptGuess,
    hold: first < 0 ? 0 : holdOf(deps, firstCall),
    refusal: first < 0 ? noStep(deps, call) : limitedBy(deps, firstCall, known),
    steps: steps.map((step, index) => ({ ...step, place: places[index] ?? 0 })),
  }
}

/**
 * The routing table as it would be with a virtual model that is not saved. The model is tried even if it is not
 * enabled.
 */
function withDraft(table: RoutingTable, draft: VirtualModel): RoutingTable {
  const tried = { ...draft, isEnabled: true }
  const virtuals = new Map([...table.virtuals(), [draft.name, tried]])
  return {
    ...table,
    virtuals: () => virtuals,
    virtual: (group, model) =>
      model === draft.name
        ? tried.groups && !tried.groups.has(group)
          ? undefined
          : tried
        : table.virtual(group, model),
  }
}

function callFor(deps: DryDeps, caller: Caller, path: string, json: Record<string, unknown>): RelayCall {
  const url = `http://localhost${path}`
  const route = callRouteOf(url)
  if (!route) throw new GatewayError('mode_not_supported', `${path} cannot be tried`)
  const incoming = { request: new Request(url, { method: 'POST' }), requestId: '', address: () => '' }
  const body = { kind: 'json', text: JSON.stringify(json), json } as const
  const times = { startedAtMs: 0, arrivedAtMs: 0 }
  return buildCall(deps.routing(), incoming, caller, route, body, { ...times, affinity: 'off' })
}

/** A caller who belongs to the group and has no restrictions. */
function nobody(group: string): Caller {
  return {
    ...{ tokenId: 0, userId: 0, tokenName: '', username: '', group, userGroup: group, role: roles.user },
    ...{ tokenStatus: tokenStatus.enabled, userStatus: userStatus.enabled, expiredTime: -1 },
    ...{ remainQuota: 0, unlimited: true, models: null, subnet: null },
    ...{ tokenLimits: undefined, userLimits: undefined, allowedModels: undefined },
    ...{ limits: undefined, chosenChannel: undefined },
  }
}

function callAt(call: RelayCall, step: PlanStep | undefined): RelayCall {
  return step ? atStep(call, step) : call
}

type StepReport = Omit<DryRunStep, 'place'>

function stepReport(
  deps: DryDeps,
  call: RelayCall,
  step: PlanStep | undefined,
  suitable: ReadonlySet<PlanStep> | undefined,
): StepReport {
  const stepCall = callAt(call, step)
  const channels = channelsOf(deps, stepCall)
  const isSuitable = !step || suitable?.has(step) !== false
  const isServed = channels.some(({ place }) => place > 0)
  return {
    model: stepCall.facts.model,
    group: servingGroup(stepCall),
    detail: isSuitable ? (isServed ? '' : 'no channel can serve the step') : (unsuitability(deps, stepCall) ?? ''),
    failures: stepFailures.filter((failure: StepFailure) => step?.next.has(failure)),
    fixed_price: step?.price !== undefined,
    channels,
  }
}

/** The positions of the steps. As in a call, a step whose channels are all unhealthy comes last. */
function placesOf(steps: readonly StepReport[]): number[] {
  const isUsable = ({ detail }: StepReport) => detail === ''
  const isWell = (step: StepReport) =>
    !step.failures.includes('no_channel') || step.channels.some(({ place, reason }) => place > 0 && reason === null)
  const order = [
    ...steps.filter((step) => isUsable(step) && isWell(step)),
    ...steps.filter((step) => isUsable(step) && !isWell(step)),
  ]
  return steps.map((step) => order.indexOf(step) + 1)
}

/** The channels that have the model, in the order in which they would be called, with their positions. */
function channelsOf(deps: DryDeps, call: RelayCall): DryRunChannel[] {
  const table = deps.routing()
  const { model } = call.facts
  const candidates = table.candidates(servingGroup(call), model)
  const ordered = inTurn(deps, call, candidates)
  const others = table.channels().filter((channel) => channel.models.includes(model) && !ordered.includes(channel))
  const reports = [...ordered, ...others].map((channel) => channelReport(deps, call, channel, candidates))
  const isUsable = ({ reason }: DryRunChannel) => reason === null || lastReasons.has(reason)
  const sorted = [
    ...reports.filter(({ reason }) => reason === null),
    ...reports.filter(({ reason }) => reason !== null),
  ]
  const usable = sorted.filter(isUsable)
  return [...usable, ...sorted.filter((each) => !isUsable(each))].map((each) => ({
    ...each,
    place: usable.indexOf(each) + 1,
  }))
}

/** Why a channel is called only if no other is left. */
const lastReasons: ReadonlySet<DryRunReason> = new Set(['full', 'resting', 'unhealthy'])

/** The candidates by priority, then in the order that is set for the group (for example by cost), then by weight. */
function inTurn(deps: DryDeps, call: RelayCall, candidates: readonly Candidate[]): Channel[] {
  const { model, stream: isStream } = call.facts
  // Because `random` returns 1, no channel is chosen for exploration.
  const never = { channelCost: deps.channelCost, latencies: deps.latencies, random: () => 1 }
  const levels = [...Map.groupBy(candidates, ({ priority }) => priority)].sort(([a], [b]) => b - a)
  return levels.flatMap(([, level]) =>
    inOrder(orderFor(deps, call), level, { model, isStream }, never).flatMap((group) =>
      group.map(({ channel }) => channel).sort((a, b) => b.weight - a.weight || a.id - b.id),
    ),
  )
}

function channelReport(
  deps: DryDeps,
  call: RelayCall,
  channel: Channel,
  candidates: readonly Candidate[],
): DryRunChannel {
  const { model } = call.facts
  const candidate = candidates.find((each) => each.channel === channel)
  const level = candidates.filter(({ priority }) => priority === candidate?.priority)
  const weights = level.reduce((sum, each) => sum + each.channel.weight, 0)
  const [charging, unpriced] = chargingAt(deps, call, channel)
  const [reason, detail] = whyNot(deps, call, channel, candidate !== undefined, unpriced)
  const price = charging && pricesOf([charging.sheet], charging.groupRatio)[0]
  return {
    id: channel.id,
    name: channel.name,
    place: 0,
    priority: candidate?.priority ?? 0,
    share: candidate ? Math.round((1000 * channel.weight) / weights) / 10 : 0,
    upstream_model: mappedModel(channel, model),
    reason,
    detail,
    hold: charging ? charging.ceiling(call.state.promptGuess) : 0,
    price: price ?? null,
  }
}

function whyNot(
  deps: DryDeps,
  call: RelayCall,
  channel: Channel,
  isCandidate: boolean,
  unpriced: GatewayError | undefined,
): [reason: DryRunReason | null, detail: string] {
  const { model } = call.facts
  if (channel.status !== channelStatus.enabled) return ['disabled', '']
  if (!isCandidate) {
    const all = deps.routing().allCandidates(servingGroup(call), model)
    return [all.some((each) => each.channel === channel) ? 'draining' : 'other_group', '']
  }
  if (!serves(channel, call.mode, model)) return ['kind', channel.provider.meta.label]
  const lacked = lackedBy(deps, call, channel)
  if (lacked.length > 0) return ['lacks', lacked.join(', ')]
  if (unpriced) return ['unpriced', unpriced.message]
  const full = channel.capped === 0 ? undefined : deps.fullLimit(channel.id, mappedModel(channel, model))
  if (full !== undefined) return ['full', full]
  if (deps.rests.isResting(channel, model)) return ['resting', '']
  return deps.breaker.isOpen(channel.id, model) ? ['unhealthy', ''] : [null, '']
}

function chargingAt(
  deps: DryDeps,
  call: RelayCall,
  channel: Channel,
): [charging: Charging | undefined, unpriced: GatewayError | undefined] {
  const model = mappedModel(channel, call.facts.model)
  const sliceTokens = deps.settings().PreConsumedQuota
  try {
    return [chargingFor({ call, prices: deps.prices(), model, channel, sliceTokens }), undefined]
  } catch (error) {
    if (error instanceof GatewayError) return [undefined, error]
    throw error
  }
}

/** Why the limits or the quota of the token would refuse the call; null if they would not. */
function limitedBy(deps: DryDeps, call: RelayCall, known: Circumstances | undefined): DryRun['refusal'] {
  const [first] = channelsOf(deps, call)
  const channel = first && deps.routing().channel(first.id)
  const [charging] = channel ? chargingAt(deps, call, channel) : []
  const guess = call.state.promptGuess
  const refusal = charging && known?.refusal(charging.reserved(guess), charging.least(guess))
  return refusal ? refusalOf(refusal) : null
}

/** The quota that would be held for the call at its first step. */
function holdOf(deps: DryDeps, call: RelayCall): number {
  const [first] = channelsOf(deps, call)
  const channel = first && deps.routing().channel(first.id)
  const [charging] = channel ? chargingAt(deps, call, channel) : []
  return charging ? ceilingOf(deps, call, charging)(call.state.promptGuess) : 0
}

function noStep(deps: DryDeps, call: RelayCall) {
  const group = servingGroup(call)
  const { model } = call.facts
  const message = call.plan
    ? `no step of model ${model} can serve this request`
    : `no available channel for model ${model} in group ${group}`
  const [only] = deps.routing().candidates(group, model)
  const unpriced = only && chargingAt(deps, call, only.channel)[1]
  return refusalOf(unpriced ?? new GatewayError('no_available_channel', message))
}

function refusalOf(error: unknown): DryRun['refusal'] {
  if (error instanceof GatewayError) return { code: error.code, message: error.message }
  throw error
}
