/** The largest answer limit that is accepted; one-api's bound. */
export const maxTokensLimit = 2 ** 30
/** The most answers to one request. */
export const choicesLimit = 128
/** The longest model name. */
export const modelLimit = 256

/** A longer tool result stays text, even if a dialect uses objects for results. */
export const longestParsedResult = 32 * 1024
