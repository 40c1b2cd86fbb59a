/** `logs.type` as stored and sent; 0 in a filter means all. */
export const logType = { topUp: 1, consume: 2, manage: 3, system: 4, test: 5 } as const
