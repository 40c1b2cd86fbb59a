/**
 * The values of `logs.type` as stored and sent. In a filter, 0 means all. `error` is a call that failed and cost
 * nothing.
 */
export const logType = { topUp: 1, consume: 2, manage: 3, system: 4, test: 5, error: 6 } as const
