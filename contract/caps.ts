/** What a cap counts. `cost` is the upstream cost. `calls` is the number of concurrent calls. */
export const capMetrics = ['requests', 'tokens', 'quota', 'cost', 'calls'] as const
export type CapMetric = (typeof capMetrics)[number]

/**
 * The windows over which a cap counts. Minute, hour and `5h` are moving windows that end now. Day, week and month are
 * calendar periods. `now` is used for concurrent calls.
 */
export const capWindows = ['minute', 'hour', '5h', 'day', 'week', 'month', 'ever', 'now'] as const
export type CapWindow = (typeof capWindows)[number]

/** The owner of a cap: a channel, or each key of a channel. Tokens, users and teams can be added later. */
export const capOwners = ['channel', 'key'] as const
export type CapOwner = (typeof capOwners)[number]

/** The width in seconds of the steps of a moving window. A window consists of 60 steps and the current one. */
export const capSteps: Readonly<Partial<Record<CapWindow, number>>> = { minute: 1, hour: 60, '5h': 300 }

/** The maximum number of caps of one channel. */
export const mostCaps = 20

/** The model names and patterns in the text of a cap. An empty list means all models. */
export function capModels(text: string): string[] {
  return text
    .split(',')
    .map((each) => each.trim())
    .filter((each) => each !== '')
}
