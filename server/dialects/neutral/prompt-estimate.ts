/**
 * Tokens per message in addition to its texts, and tokens for the start of the answer (OpenAI's cookbook on counting
 * tokens).
 */
export const perMessage = 3
export const perReply = 3
/**
 * The tokens of a 1024×1024 image at high detail (OpenAI's vision guide). The real number depends on the size of the
 * image, which we do not read.
 */
export const imageTokens = 765
/** Audio is about 10 tokens per second. A second of compressed speech is about 2,000 characters of base64. */
export const charactersPerAudioToken = 200
/**
 * Characters of base64 per token of a document. A document consists of text and page images, so this is only a rough
 * estimate.
 */
export const charactersPerDocumentToken = 12
