import { extname } from 'node:path'
import type { PromptText } from '../dialects/dialect.ts'
import type { CountAnswer, CountJob } from './tokenizer-worker.ts'

/** Counts tokens off the main thread, which must not stand still while 100 KB of text are cut up. */
export interface TokenCounter {
  /** Tokens of the texts plus the fixed ones. `approximate`: 0.38 per byte instead (ApproximateTokenEnabled). */
  count(model: string, prompt: PromptText, approximate: boolean): Promise<number>
  close(): void
}

/** one-api's factor for ApproximateTokenEnabled. */
const tokensPerByte = 0.38
/** The vocabularies take some 60 MB, so the worker ends when nobody has needed it for a while. */
const idleLifeMs = 5 * 60_000

/** Beside this file as TypeScript, or beside the one file that the server was built into. */
const workerUrl = new URL(`./tokenizer-worker${extname(import.meta.path)}`, import.meta.url).href

interface Job {
  resolve(tokens: number): void
  reject(error: unknown): void
}

export function createTokenCounter(): TokenCounter {
  let worker: Worker | undefined
  let idleTimer: ReturnType<typeof setTimeout> | undefined
  let lastId = 0
  const jobs = new Map<number, Job>()

  function start(): Worker {
    const started = new Worker(workerUrl)
    started.addEventListener('message', (event: MessageEvent<CountAnswer>) => {
      jobs.get(event.data.id)?.resolve(event.data.tokens)
      jobs.delete(event.data.id)
      if (jobs.size === 0) rest()
    })
    started.addEventListener('error', (event) => {
      stop()
      for (const job of jobs.values()) job.reject(new Error(`the tokenizer failed: ${event.message}`))
      jobs.clear()
    })
    ;(started as Worker & { unref?: () => void }).unref?.()
    return started
  }

  function rest(): void {
    clearTimeout(idleTimer)
    idleTimer = setTimeout(stop, idleLifeMs)
    idleTimer.unref()
  }

  function stop(): void {
    clearTimeout(idleTimer)
    worker?.terminate()
    worker = undefined
  }

  return {
    async count(model, prompt, approximate) {
      if (prompt.texts.length === 0) return prompt.fixedTokens
      if (approximate) {
        return prompt.texts.reduce(
          (sum, text) => sum + Math.ceil(Buffer.byteLength(text) * tokensPerByte),
          prompt.fixedTokens,
        )
      }
      worker ??= start()
      clearTimeout(idleTimer)
      const job: CountJob = { id: ++lastId, encoding: encodingOf(model), texts: prompt.texts }
      const tokens = await new Promise<number>((resolve, reject) => {
        jobs.set(job.id, { resolve, reject })
        worker?.postMessage(job)
      }).catch(() => quickEstimate({ texts: prompt.texts, fixedTokens: 0 }))
      return tokens + prompt.fixedTokens
    },
    close: stop,
  }
}

/** Vocabulary by model name: cl100k for the gpt-3.5 and gpt-4 generations and the embeddings, o200k for all later. */
function encodingOf(model: string): 'o200k' | 'cl100k' {
  const bare = model.slice(model.lastIndexOf('/') + 1)
  return /^(gpt-3\.5|gpt-35|gpt-4(?!o|\.)|text-embedding|davinci-002|babbage-002)/.test(bare) ? 'cl100k' : 'o200k'
}

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
