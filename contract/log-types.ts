/** `logs.type` as stored and sent; 0 in a filter means all. An error is a call that failed and cost nothing. */
export const logType = { topUp: 1, consume: 2, manage: 3, system: 4, test: 5, error: 6 } as const
