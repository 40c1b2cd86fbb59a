/**
 * Tokens for each message in addition to its texts, and for the start of the answer (OpenAI's cookbook on counting
 * tokens).
 */
export const perMessage = 3
export const perReply = 3
/**
 * An image of 1024×1024 at high detail (OpenAI's vision guide); the real cost depends on its size, which we do not
 * read.
 */
export const imageTokens = 765
/** Audio is about 10 tokens a second; a second of compressed speech is about 2,000 characters of base64. */
export const charactersPerAudioToken = 200
/** A document is text and pages; its size tells only the order of magnitude. */
export const charactersPerDocumentToken = 12
