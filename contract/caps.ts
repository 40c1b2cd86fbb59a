/** What a cap counts. `cost` is the upstream cost; `calls` are calls at once. */
export const capMetrics = ['requests', 'tokens', 'quota', 'cost', 'calls'] as const
export type CapMetric = (typeof capMetrics)[number]

/**
 * The windows in which a cap counts. Minute, hour and `5h` are the last minute, hour and five hours at every moment; day,
 * week and month are those of the calendar. `now` belongs to calls at once.
 */
export const capWindows = ['minute', 'hour', '5h', 'day', 'week', 'month', 'ever', 'now'] as const
export type CapWindow = (typeof capWindows)[number]

/** The owner of a cap: a channel, or each key of a channel. Tokens, users and teams can follow. */
export const capOwners = ['channel', 'key'] as const
export type CapOwner = (typeof capOwners)[number]

/** The width in seconds of the steps in which a moving window is counted; 60 steps and the current one. */
export const capSteps: Readonly<Partial<Record<CapWindow, number>>> = { minute: 1, hour: 60, '5h': 300 }

/** The most caps that one channel can have. */
export const mostCaps = 20

/** The names and patterns of models in a cap's text; none for all models. */
export function capModels(text: string): string[] {
  return text
    .split(',')
    .map((each) => each.trim())
    .filter((each) => each !== '')
}
