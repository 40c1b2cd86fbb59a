import type { PromptText } from '../../dialects/neutral/dialect.ts'

/** Plain English has about 4 characters per token. Code and punctuation have fewer, so 3 is used. */
const charactersPerToken = 3
/**
 * Tokens for each UTF-8 byte beyond one per character. CJK text has two such bytes, and up to about 1.3 tokens, per
 * character.
 */
const tokensPerExtraByte = 0.65

/**
 * Estimates the number of tokens in almost no time. The estimate tends to be too high. The first hold is based on this
 * estimate. The tokens are counted exactly only if the quota does not cover the estimate.
 */
export function quickEstimate(prompt: PromptText): number {
  let tokens = prompt.fixedTokens
  for (const text of prompt.texts) tokens += textTokens(text)
  return tokens
}

/** The estimate for one text. */
export function textTokens(text: string): number {
  return quickTokens(text.length, Buffer.byteLength(text) - text.length)
}

/**
 * The estimate for a text of the given number of characters. `extraBytes` is the number of its UTF-8 bytes beyond one
 * per character.
 */
export function quickTokens(characters: number, extraBytes: number): number {
  return Math.ceil(characters / charactersPerToken + extraBytes * tokensPerExtraByte)
}
