/** The token limit that a request sets for its answer must be below this number, as in one-api. */
export const maxTokensLimit = 2 ** 30
/** The maximum number of answers to one request. */
export const choicesLimit = 128
/** The maximum length of a model name. */
export const modelLimit = 256

/**
 * The maximum length of a tool result that is parsed for dialects with object results. Longer results are sent as text.
 */
export const longestParsedResult = 32 * 1024
