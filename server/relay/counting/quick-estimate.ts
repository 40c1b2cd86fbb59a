import type { PromptText } from '../../dialects/neutral/dialect.ts'

/** Plain English has about 4 characters per token; 3 leaves room for code and punctuation. */
const charactersPerToken = 3
/** For bytes beyond one per character: CJK has two of them and up to about 1.3 tokens per character. */
const tokensPerExtraByte = 0.65

/**
 * An estimate that tends to be high and costs next to nothing. The first hold is based on it; the tokens are really
 * counted only if the quota does not cover it.
 */
export function quickEstimate(prompt: PromptText): number {
  let tokens = prompt.fixedTokens
  for (const text of prompt.texts) {
    const extraBytes = Buffer.byteLength(text) - text.length
    tokens += quickTokens(text.length, extraBytes)
  }
  return tokens
}

/** The same for a text of that many characters whose UTF-8 form has that many bytes beyond one per character. */
export function quickTokens(characters: number, extraBytes: number): number {
  return Math.ceil(characters / charactersPerToken + extraBytes * tokensPerExtraByte)
}
