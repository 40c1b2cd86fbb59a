/** Status numbers as stored and sent, one table per entity; the values are one-api's. */
export const userStatus = { enabled: 1, disabled: 2, deleted: 3 } as const
export const tokenStatus = { enabled: 1, disabled: 2, expired: 3, exhausted: 4 } as const
/** `autoDisabled` is set only by the gateway after upstream faults, never by a person. */
export const channelStatus = { enabled: 1, disabled: 2, autoDisabled: 3 } as const
export const redemptionStatus = { unused: 1, disabled: 2, used: 3 } as const
/** Filters list this as a status of its own, but an unused code that has expired is stored and sent as unused. */
export const redemptionExpired = 4
