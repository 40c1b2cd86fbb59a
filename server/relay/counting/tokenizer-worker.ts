import { piecesOf } from './token-pieces.ts'

/** One counting job for the worker. */
export interface CountJob {
  encoding: 'o200k' | 'cl100k'
  texts: readonly string[]
}

export interface CountAnswer {
  id: number
  tokens: number
}

/**
 * The caller's text is plain text, even if it contains the names of special tokens. They are counted like any other
 * characters.
 */
const asPlainText = { disallowedSpecial: new Set<string>() }

/**
 * Beyond this many characters, the count is extrapolated in proportion, so that a caller cannot use seconds of CPU
 * time.
 */
const countedCharacters = 400_000

/** Each vocabulary takes tens of megabytes, so only those in use are loaded. */
const encodings = {
  o200k: () => import('gpt-tokenizer/encoding/o200k_base'),
  cl100k: () => import('gpt-tokenizer/encoding/cl100k_base'),
}

async function count({ encoding, texts }: CountJob): Promise<number> {
  const { countTokens } = await encodings[encoding]()
  let tokens = 0
  let counted = 0
  let total = 0
  for (const text of texts) {
    total += text.length
    if (counted >= countedCharacters) continue
    const part = text.slice(0, countedCharacters - counted)
    counted += part.length
    for (const piece of piecesOf(part)) tokens += countTokens(piece, asPlainText)
  }
  return counted < total ? Math.ceil((tokens * total) / counted) : tokens
}

addEventListener('message', async (event: MessageEvent<CountJob & { id: number }>) => {
  postMessage({ id: event.data.id, tokens: await count(event.data) } satisfies CountAnswer)
})
