/** Tokens each message costs beside its texts, and the start of the answer (OpenAI's cookbook on counting tokens). */
export const perMessage = 3
export const perReply = 3
/** An image of 1024×1024 at high detail (OpenAI's vision guide); what it really costs depends on its size, which is not looked at. */
export const imageTokens = 765
/** Sound is about 10 tokens a second, and compressed speech about 2,000 characters of base64. */
export const charactersPerAudioToken = 200
/** A document is text and pages; its size says little more than the order of magnitude. */
export const charactersPerDocumentToken = 12
