/** The outcomes that users can filter their own calls by. */
export const ownOutcomes = ['failed', 'slow', 'estimated'] as const
/** The outcomes that admins can filter by. Which channels a call was sent to concerns only them. */
export const logOutcomes = [...ownOutcomes, 'retried', 'rescued'] as const

export type LogOutcome = (typeof logOutcomes)[number]

/** The longest time that a filter for slow calls accepts, in seconds. */
export const mostSlowSeconds = 86_400
/** From how many seconds on a call is slow, unless a filter says otherwise. */
export const usualSlowSeconds = 10
