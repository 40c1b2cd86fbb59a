import type { Limits } from '../../contract/limits.ts'
import { GatewayError } from '../errors.ts'
import type { LimitOwner, LimitReached, Minutes } from '../store/schema/ledger-types.ts'

/**
 * The limits that apply to one call. `minutes` is the usage of the token and the user in the current minute, at the
 * time when the call was admitted or refused.
 */
export interface CallLimits {
  readonly token: Limits | undefined
  readonly user: Limits | undefined
  /** Undefined until the ledger sets it. */
  minutes: Minutes | undefined
}

/** The limits of a user. The group's limit applies wherever the user has no limit of their own. */
export function userLimits(own: Limits | undefined, group: Limits | undefined): Limits | undefined {
  if (!own || !group) return own ?? group
  return {
    rpm_limit: own.rpm_limit || group.rpm_limit,
    tpm_limit: own.tpm_limit || group.tpm_limit,
    concurrency_limit: own.concurrency_limit || group.concurrency_limit,
    daily_budget: own.daily_budget || group.daily_budget,
    monthly_budget: own.monthly_budget || group.monthly_budget,
  }
}

const ownerNames = { token: 'this token', user: 'this account' } as const
const limitNames = {
  requests: (most: number) => `${most} requests per minute`,
  tokens: (most: number) => `${most} tokens per minute`,
  concurrency: (most: number) => `${most} calls at once`,
} as const

/** The error for a call that would exceed a limit. `tokens` is the number of tokens that the call requested. */
export function limitError({ limit, owner, most, retryAfter }: LimitReached, tokens: number): GatewayError {
  const name = `${limitNames[limit](most)} for ${ownerNames[owner]}`
  const message =
    limit === 'tokens' && tokens > most
      ? `this request needs ${tokens} tokens, and the limit is ${name}: request fewer (max_tokens)`
      : `the limit of ${name} is reached; try again in ${retryAfter} s`
  return new GatewayError('rate_limit_exceeded', message, { retryAfterSeconds: retryAfter })
}

/** The error for a call whose cost exceeds the rest of a budget. */
export function budgetError(budget: 'daily' | 'monthly', owner: LimitOwner, retryAfter: number): GatewayError {
  const message = `the ${budget} budget of ${ownerNames[owner]} does not cover this call; it resets in ${retryAfter} s`
  return new GatewayError(`${budget}_budget_exceeded`, message, { retryAfterSeconds: retryAfter })
}
