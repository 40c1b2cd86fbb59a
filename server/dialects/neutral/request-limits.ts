/** The largest accepted token limit for an answer, which is the same as in one-api. */
export const maxTokensLimit = 2 ** 30
/** The maximum number of answers to one request. */
export const choicesLimit = 128
/** The maximum length of a model name. */
export const modelLimit = 256

/** A longer tool result stays text, even in dialects that use objects for results. */
export const longestParsedResult = 32 * 1024
