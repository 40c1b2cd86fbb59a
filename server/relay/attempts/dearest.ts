import { GatewayError } from '../../errors.ts'
import { atStep } from '../call/at-step.ts'
import type { AnyCall } from '../call/call.ts'
import type { RelayDeps } from '../call/deps.ts'
import { chargingFor } from '../charging/charging.ts'
import type { Charging } from '../charging/charging-types.ts'
import { mappedModel } from '../routing/routing-table.ts'
import { servingChannels } from './suitable.ts'

/**
 * Returns a function that takes the number of prompt tokens and returns the most that the call can cost. If the call
 * has a plan, several models (steps) may be tried one after another. The result is then the cost on the most expensive
 * channel of all steps, so that no later step fails for lack of quota.
 */
export function ceilingOf(deps: RelayDeps, call: AnyCall, charging: Charging): (promptTokens: number) => number {
  if (!call.plan) return (promptTokens) => charging.ceiling(promptTokens)
  const chargings = [charging, ...chargingsOf(deps, call)]
  return (promptTokens) => Math.max(...chargings.map((each) => each.ceiling(promptTokens)))
}

/** The different prices that a call can have at its steps. */
function chargingsOf(deps: RelayDeps, call: AnyCall): Charging[] {
  const known = new Map<string, Charging>()
  for (const [index, step] of (call.plan?.steps ?? []).entries()) {
    const stepCall = atStep(call, step)
    for (const channel of servingChannels(deps, stepCall)) {
      const model = mappedModel(channel, step.model)
      // Two steps on the same channel and model can differ in price if one of them has a fixed price.
      const key = `${channel.type} ${step.price ? index : ''} ${model}`
      if (known.has(key)) continue
      const charging = priceOf(deps, stepCall, model, channel)
      if (charging) known.set(key, charging)
    }
  }
  return [...known.values()]
}

function priceOf(
  deps: RelayDeps,
  call: AnyCall,
  model: string,
  channel: Parameters<typeof chargingFor>[0]['channel'],
): Charging | undefined {
  const sliceTokens = deps.settings().PreConsumedQuota
  try {
    return chargingFor({ call, prices: deps.prices(), model, channel, sliceTokens })
  } catch (error) {
    if (error instanceof GatewayError) return undefined
    throw error
  }
}
