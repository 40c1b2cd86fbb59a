/** Status numbers as stored and sent, one table per entity; the values are one-api's. */
export const userStatus = { enabled: 1, disabled: 2, deleted: 3 } as const
export const tokenStatus = { enabled: 1, disabled: 2, expired: 3, exhausted: 4 } as const
/** `autoDisabled` is set only by the gateway, after upstream failures, and never by a person. */
export const channelStatus = { enabled: 1, disabled: 2, autoDisabled: 3 } as const
export const redemptionStatus = { unused: 1, disabled: 2, used: 3 } as const
/** A status for filters only: a code that expired before it was used is stored and sent as unused. */
export const redemptionExpired = 4

/** What decides the status of a token. */
export interface TokenState {
  status: number
  /** Epoch seconds; -1 means never. */
  expired_time: number
  remain_quota: number
  unlimited_quota: boolean | number
}

/**
 * The status that a request at that time would find. A token is marked as expired or exhausted only when it is used.
 */
export function tokenStatusAt(token: TokenState, nowSeconds: number): number {
  if (token.status !== tokenStatus.enabled) return token.status
  if (token.expired_time !== -1 && token.expired_time < nowSeconds) return tokenStatus.expired
  return !token.unlimited_quota && token.remain_quota <= 0 ? tokenStatus.exhausted : token.status
}
