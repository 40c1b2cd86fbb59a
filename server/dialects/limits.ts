/** Largest limit of an answer that is believed; one-api's bound. */
export const maxTokensLimit = 2 ** 30
/** Most answers to one request. */
export const choicesLimit = 128
/** Longest name of a model. */
export const modelLimit = 256
