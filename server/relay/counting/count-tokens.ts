import type { PromptText } from '../../dialects/neutral/dialect.ts'
import { IdleWorker } from '../../lib/idle-worker.ts'
import { programUrl } from '../../lib/program-files.ts'
import { quickEstimate } from './quick-estimate.ts'
import type { CountAnswer, CountJob } from './tokenizer-worker.ts'

/** Counts tokens in a worker thread, because 100 KB of text would block the main thread. */
export interface TokenCounter {
  /**
   * The tokens of the texts plus the fixed tokens. If `approximate` is set, the texts count as 0.38 tokens per byte
   * instead (ApproximateTokenEnabled).
   */
  count(model: string, prompt: PromptText, approximate: boolean): Promise<number>
  close(): void
}

/** one-api's factor for ApproximateTokenEnabled. */
const tokensPerByte = 0.38
const workerUrl = programUrl('./tokenizer-worker', import.meta.url)

export function createTokenCounter(): TokenCounter {
  const worker = new IdleWorker<CountJob, CountAnswer>(workerUrl, 'the tokenizer')
  return {
    async count(model, prompt, approximate) {
      if (prompt.texts.length === 0) return prompt.fixedTokens
      if (approximate) {
        return prompt.texts.reduce(
          (sum, text) => sum + Math.ceil(Buffer.byteLength(text) * tokensPerByte),
          prompt.fixedTokens,
        )
      }
      const tokens = await worker.run({ encoding: encodingOf(model), texts: prompt.texts }).then(
        (answer) => answer.tokens,
        () => quickEstimate({ texts: prompt.texts, fixedTokens: 0 }),
      )
      return tokens + prompt.fixedTokens
    },
    close: () => worker.close(),
  }
}

/**
 * The vocabulary for a model name: cl100k for the gpt-3.5 and gpt-4 generations and the embeddings, o200k for all later
 * models.
 */
function encodingOf(model: string): 'o200k' | 'cl100k' {
  const bare = model.slice(model.lastIndexOf('/') + 1)
  return /^(gpt-3\.5|gpt-35|gpt-4(?!o|\.)|text-embedding|davinci-002|babbage-002)/.test(bare) ? 'cl100k' : 'o200k'
}
