import { type TokenState, tokenStatus } from '../../contract/statuses.ts'
import { ApiFailure } from '../http/api-failure.ts'

/**
 * Throws if a token cannot be enabled: the reason why it expired or was exhausted must be removed first. The stored
 * values decide, as in one-api.
 */
export function refuseToEnable(token: TokenState, nowSeconds: number): void {
  if (token.status === tokenStatus.expired && token.expired_time !== -1 && token.expired_time <= nowSeconds) {
    throw new ApiFailure('The token has expired. Set a later expiry first.')
  }
  if (token.status === tokenStatus.exhausted && token.remain_quota <= 0 && !token.unlimited_quota) {
    throw new ApiFailure('The quota of the token is used up. Increase it first, or make it unlimited.')
  }
}
