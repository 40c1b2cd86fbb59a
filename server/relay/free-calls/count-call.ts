import type { Hold } from '../../billing/ledger.ts'
import type { DialectName } from '../../dialects/neutral/conversation.ts'
import { GatewayError } from '../../errors.ts'
import { noChannel } from '../attempts/no-channel.ts'
import { atStep, servingGroup } from '../call/at-step.ts'
import type { RelayCall } from '../call/call.ts'
import type { RelayDeps } from '../call/deps.ts'
import { keyFor } from '../call/key-for.ts'
import { orderFor } from '../call/order-for.ts'
import type { PlanStep } from '../call/plan.ts'
import { chargingFor } from '../charging/charging.ts'
import { noteHealth } from '../failures/note-health.ts'
import { ownHeaders } from '../headers/relay-headers.ts'
import { type Channel, mappedModel } from '../routing/routing-table.ts'
import { selectChannel } from '../routing/select-channel.ts'
import { askAt, endpointsOf, isChat } from '../upstream/call-endpoint.ts'
import { readBounded } from '../upstream/read-answer.ts'
import { patienceOf } from '../upstream/time-limits.ts'

const mostBytes = 64 * 1024
/** How long to wait for the body of a service's token count, once the response has begun. */
const bodyMs = 10_000

/**
 * Counts the tokens of a request. The service counts them if the channel uses the caller's dialect and its service has
 * a token-count endpoint. Otherwise, the gateway's tokenizer counts them. The call costs nothing and is not logged. It
 * does count towards the limits and need quota, because it uses the service and the CPU like any other call. For a
 * virtual model, the first step that has a channel determines the count. Throws GatewayError.
 */
export function countCall(deps: RelayDeps, call: RelayCall): Promise<Response> {
  const { plan, caller } = call
  if (!plan) return countAt(deps, call)
  const isServed = ({ model, group = caller.group }: PlanStep) => deps.routing().candidates(group, model).length > 0
  const step = plan.steps.find(isServed) ?? plan.steps[0]
  return countAt(deps, step ? atStep(call, step) : call)
}

async function countAt(deps: RelayDeps, call: RelayCall): Promise<Response> {
  const channel = channelFor(deps, call)
  // A successful count does not show that the channel is healthy, because the service may count tokens but fail to
  // answer calls.
  noteHealth(deps, { channel, call }, 'undecided')
  const hold = await holdLeast(deps, call, channel)
  try {
    const counted = await countThere(deps, call, channel).catch((error: unknown) => {
      if (error instanceof GatewayError && error.type !== 'upstream_error') throw error
      return undefined
    })
    call.leaving.close()
    call.leaving.answered()
    const headers = { ...ownHeaders(call), 'content-type': 'application/json' }
    if (counted !== undefined) return new Response(counted, { headers })
    const approximate = deps.settings().ApproximateTokenEnabled
    const tokens = await deps.counter.count(call.facts.model, call.facts.prompt, approximate)
    return new Response(JSON.stringify(answerOf(call.dialect, tokens)), { headers })
  } finally {
    await hold.release()
  }
}

function channelFor(deps: RelayDeps, call: RelayCall): Channel {
  const { mode, requestId, session } = call
  const { chosenChannel } = call.caller
  const { model } = call.facts
  const candidates = deps.routing().candidates(servingGroup(call), model)
  const wanted = { mode, model, requestId, session, isStream: false, order: orderFor(deps, call) }
  const channel = chosenChannel ?? selectChannel(wanted, candidates, new Set(), deps)?.channel
  if (!channel) throw noChannel(call, candidates)
  return keyFor(deps, call, channel)
}

/** Holds the smallest amount of quota, or none for a free model. The hold is released after the count. */
function holdLeast(deps: RelayDeps, call: RelayCall, channel: Channel): Promise<Hold> {
  const { caller, facts, requestId, signal } = call
  const settings = deps.settings()
  const upstreamModel = mappedModel(channel, facts.model)
  const charging = chargingFor({
    call,
    prices: deps.prices(),
    model: upstreamModel,
    channel,
    sliceTokens: settings.PreConsumedQuota,
  })
  const amount = Math.min(1, charging.least(call.state.promptGuess))
  return deps.ledger.hold({
    userId: caller.userId,
    tokenId: caller.tokenId,
    limits: caller.limits,
    amount,
    least: amount,
    crashCharge: 0,
    modelName: facts.model,
    requestId,
    signal,
  })
}

/** The service's own count, or undefined if the service cannot count or does not respond with success. */
async function countThere(deps: RelayDeps, call: RelayCall, channel: Channel): Promise<string | undefined> {
  const upstreamModel = mappedModel(channel, call.facts.model)
  const [endpoint] = endpointsOf(deps, call, channel, upstreamModel)
  const { countTarget } = endpoint as { countTarget?: typeof endpoint.target }
  if (!isChat(endpoint) || !countTarget || endpoint.dialect.name !== call.dialect) return undefined
  const counting = { dialect: endpoint.dialect, forwards: endpoint.forwards ?? [], target: countTarget }
  const question = { call, channel, endpoint: counting, upstreamModel, capTokens: undefined }
  const { response } = await askAt(deps, question, patienceOf(channel, deps.settings()))
  const { text, ending } = await readBounded(deps, response, mostBytes, deps.deadlineWatch.nowMs() + bodyMs)
  return response.ok && ending === 'end' ? text : undefined
}

function answerOf(dialect: DialectName, tokens: number): object {
  return dialect === 'gemini' ? { totalTokens: tokens } : { input_tokens: tokens }
}
