import type { PromptText } from '../../dialects/neutral/dialect.ts'
import { GatewayError } from '../../errors.ts'
import { IdleWorker } from '../../lib/idle-worker.ts'
import { programUrl } from '../../lib/program-files.ts'
import type { CallBody } from '../call/call.ts'
import type { CallRoute } from '../call/call-routes.ts'
import { type AsideReader, addressOf, type KnownRequest } from '../call/known-request.ts'
import type { BytesJob, ReadAnswer } from './reader-worker.ts'

/**
 * A request with at least this many lists and objects is read in the worker. Reading each list or object takes a few
 * microseconds.
 */
const manyContainers = 2_000

const workerUrl = programUrl('./reader-worker', import.meta.url)

const encoder = new TextEncoder()

/**
 * Reads requests in a worker. The worker is started for the first request and ended after it has been idle for a while.
 */
export function createAsideReader(): AsideReader {
  const worker = new IdleWorker<BytesJob, ReadAnswer>(workerUrl, 'the reader of requests')
  return {
    async read({ text, dialect, address }) {
      // The text is sent as bytes, because a string would be copied character by character.
      const bytes = encoder.encode(text)
      const answer = await worker.run({ bytes, dialect, address }, [bytes.buffer])
      if ('refusal' in answer) {
        const { code, message, param } = answer.refusal
        throw new GatewayError(code, message, { param })
      }
      if ('fault' in answer) throw new Error(`a request could not be read: ${answer.fault}`)
      const { id: _id, facts, joinedTexts, lengths, ...known } = answer
      return { ...known, facts: { ...facts, prompt: withTexts(facts.prompt, joinedTexts, lengths) } }
    },
    close: () => worker.close(),
  }
}

/**
 * Separates the joined texts of a prompt on first access. Few calls need the separate texts, because only the exact
 * count uses them.
 */
function withTexts(prompt: PromptText, joinedTexts: string, lengths: Uint32Array): PromptText {
  let texts: string[] | undefined
  return {
    ...prompt,
    get texts() {
      texts ??= cutApart(joinedTexts, lengths)
      return texts
    },
  }
}

function cutApart(joinedTexts: string, lengths: Uint32Array): string[] {
  let at = 0
  return Array.from(lengths, (length) => {
    const from = at
    at += length
    return joinedTexts.slice(from, at)
  })
}

/** Reads a request in the worker. Undefined if the request is small or simple enough to be read on the main thread. */
export function readAside(reader: AsideReader, body: CallBody, route: CallRoute): Promise<KnownRequest> | undefined {
  const { dialect, mode } = route
  if (mode !== 'chat' || dialect === 'openai-chat' || body.kind !== 'json') return undefined
  if ((body.containers ?? 0) < manyContainers) return undefined
  return reader.read({ text: body.text, dialect, address: addressOf(route) })
}
