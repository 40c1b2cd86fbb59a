/** Largest limit of an answer that is believed; one-api's bound. */
export const maxTokensLimit = 2 ** 30
/** Most answers to one request. */
export const choicesLimit = 128
/** Longest name of a model. */
export const modelLimit = 256

/** A longer result of a tool stays the text that it is where a dialect has objects in its place. */
export const longestParsedResult = 32 * 1024
