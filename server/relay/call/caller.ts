import type { CallLimits } from '../../billing/limits.ts'
import { GatewayError } from '../../errors.ts'
import type { CallerRow } from '../../store/accounts/callers.ts'
import type { Channel } from '../routing/routing-table.ts'

/** The caller: a token and its owner, after all checks that do not involve quota. */
export interface Caller extends CallerRow {
  /** Models the token may use; undefined = all. */
  allowedModels: ReadonlySet<string> | undefined
  /** The limits in force for this call; undefined = none. */
  limits: CallLimits | undefined
  /** The channel that an admin chose by appending its id to the key: `sk-…-<id>`. */
  chosenChannel: Channel | undefined
}

/** The error for a token whose own quota is used up. */
export function tokenExhausted({ tokenName, tokenId }: Pick<CallerRow, 'tokenName' | 'tokenId'>): GatewayError {
  return new GatewayError(
    'token_exhausted',
    `the quota of token ${tokenName} (#${tokenId}) is exhausted: raise it, or use another token`,
  )
}

/** Refuses a model that the token may not use. Throws GatewayError (model_not_allowed). */
export function requireModel({ allowedModels }: Pick<Caller, 'allowedModels'>, model: string): void {
  if (!allowedModels || allowedModels.has(model)) return
  throw new GatewayError('model_not_allowed', `this token is not allowed to use model ${model}`, { param: 'model' })
}
