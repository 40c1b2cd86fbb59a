import type { PriceSheet } from '../../billing/price.ts'
import { GatewayError } from '../../errors.ts'
import { tokenHasQuota, userHasQuota } from '../../store/accounts/callers.ts'
import type { Store } from '../../store/store.ts'
import { type Caller, requireModel, tokenExhausted } from '../call/caller.ts'
import type { RelayDeps } from '../call/deps.ts'
import { planOf } from '../call/plan.ts'
import { mappedModel } from '../routing/routing-table.ts'

/**
 * Refuses a call with a long body before the body is parsed, if the token may not use the model, or if the caller has
 * no quota and the model is not free. Such a call would be refused later in any case. `model` is undefined if the body
 * names no model. Throws GatewayError (model_not_allowed, token_exhausted, insufficient_user_quota,
 * database_unavailable).
 */
export async function admitLong(
  { relay, store }: { relay: RelayDeps; store: Store },
  caller: Caller,
  model: string | undefined,
): Promise<void> {
  if (model === undefined) return
  const plan = planOf({ routing: relay.routing(), caller }, model)
  if (!plan) requireModel(caller, model)
  const steps = plan?.steps ?? [{ model, group: undefined }]
  if (steps.some((step) => mayBeFree(relay, caller, step.model, step.group))) return
  const { token, user } = await quotaLeft(store, caller)
  if (!token) throw tokenExhausted(caller)
  if (!user) throw new GatewayError('insufficient_user_quota', 'user quota is not enough')
}

async function quotaLeft({ read }: Store, { tokenId, userId, unlimited }: Caller) {
  try {
    return {
      token: unlimited || (await tokenHasQuota(read, tokenId)),
      user: await userHasQuota(read, userId),
    }
  } catch (error) {
    throw new GatewayError('database_unavailable', 'the account database cannot be reached; try again', {
      cause: error,
    })
  }
}

/**
 * True if the model is free for the caller on one of its channels. Also true if no channel serves the model or its
 * price is missing, because these errors are reported later.
 */
function mayBeFree(
  relay: RelayDeps,
  { chosenChannel, group, userGroup }: Caller,
  model: string,
  serving = group,
): boolean {
  const channels = chosenChannel
    ? [chosenChannel]
    : relay
        .routing()
        .candidates(serving, model)
        .map(({ channel }) => channel)
  const prices = relay.prices()
  if (channels.length === 0 || prices.groupRatio(group, userGroup) === 0n) return true
  return channels.some((channel) => {
    const sheet = prices.sheet(mappedModel(channel, model), channel.type)
    return !sheet || isFree(sheet)
  })
}

function isFree({ perCall, perHour, prices }: PriceSheet): boolean {
  return perCall === 0n && perHour === 0n && Object.values(prices).every((price) => price === 0n)
}
