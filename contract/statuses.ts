/** Status numbers as stored and sent, one table per entity; the values are one-api's. */
export const userStatus = { enabled: 1, disabled: 2, deleted: 3 } as const
export const tokenStatus = { enabled: 1, disabled: 2, expired: 3, exhausted: 4 } as const
/** `autoDisabled` is set only by the gateway, after upstream failures, and never by a person. */
export const channelStatus = { enabled: 1, disabled: 2, autoDisabled: 3 } as const
export const redemptionStatus = { unused: 1, disabled: 2, used: 3 } as const
/** A status for filters only: a code that expired before it was used is stored and sent as unused. */
export const redemptionExpired = 4
