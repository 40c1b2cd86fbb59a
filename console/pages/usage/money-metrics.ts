/** Metrics that only admins see, and only if costs are known. */
const ofCosts: readonly string[] = ['cost', 'margin']

/** Whether a metric is for admins. */
export const isOfCosts = (metric: string) => ofCosts.includes(metric)

/** Whether a metric is an amount of money. */
export const isMoney = (metric: string) => metric === 'quota' || isOfCosts(metric)
