import type { PromptText } from '../../dialects/neutral/dialect.ts'

/** Characters of plain English per token are about 4; 3 leaves room for code and punctuation. */
const charactersPerToken = 3
/** Bytes beyond one per character: CJK has two of them and up to about 1.3 tokens. */
const tokensPerExtraByte = 0.65

/**
 * Estimate that is rather too high than too low and costs next to nothing: what the first hold is sized by. Only when
 * that much is not there are the tokens really counted.
 */
export function quickEstimate(prompt: PromptText): number {
  let tokens = prompt.fixedTokens
  for (const text of prompt.texts) {
    const extraBytes = Buffer.byteLength(text) - text.length
    tokens += quickTokens(text.length, extraBytes)
  }
  return tokens
}

/** The same of a text of so many characters with so many bytes in UTF-8 beyond one for each. */
export function quickTokens(characters: number, extraBytes: number): number {
  return Math.ceil(characters / charactersPerToken + extraBytes * tokensPerExtraByte)
}
