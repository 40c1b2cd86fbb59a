/** The outcomes by which users can filter their own calls. */
export const ownOutcomes = ['failed', 'slow', 'estimated'] as const
/**
 * The outcomes by which admins can filter. `retried`: the call needed several attempts. `rescued`: a stream that broke
 * off was completed by another attempt. Only admins can filter by these two, because they are about channels.
 */
export const logOutcomes = [...ownOutcomes, 'retried', 'rescued'] as const

export type LogOutcome = (typeof logOutcomes)[number]

/** The longest time that a filter for slow calls accepts, in seconds. */
export const mostSlowSeconds = 86_400
/** A call that takes this many seconds or longer is slow, unless a filter says otherwise. */
export const usualSlowSeconds = 10
