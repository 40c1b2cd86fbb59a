import { type TokenState, tokenStatus } from '../../contract/statuses.ts'
import { ApiFailure } from '../http/api-failure.ts'

/**
 * Refuses to enable a token that is still expired or exhausted. As in one-api, it checks only tokens whose stored
 * status is expired or exhausted.
 */
export function refuseToEnable(token: TokenState, nowSeconds: number): void {
  if (token.status === tokenStatus.expired && token.expired_time !== -1 && token.expired_time <= nowSeconds) {
    throw new ApiFailure('The token has expired. Set a later expiry first.')
  }
  if (token.status === tokenStatus.exhausted && token.remain_quota <= 0 && !token.unlimited_quota) {
    throw new ApiFailure('The quota of the token is used up. Increase it first, or make it unlimited.')
  }
}
