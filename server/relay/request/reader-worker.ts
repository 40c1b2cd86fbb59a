import { callerDialects } from '../../dialects/caller-dialects.ts'
import { factsOf } from '../../dialects/neutral/facts.ts'
import { needsOf } from '../../dialects/neutral/needs.ts'
import { type ErrorCode, GatewayError } from '../../errors.ts'
import type { JsonObject } from '../../lib/json.ts'
import type { KnownRequest, ReadJob } from '../call/known-request.ts'
import { quickEstimate } from '../counting/quick-estimate.ts'
import { namesAddresses } from './inline-media.ts'

/** The facts of a request, or the reason why it is refused. The texts of the prompt are joined in `joinedTexts`. */
export type ReadAnswer = { id: number } & (
  | (KnownRequest & { joinedTexts: string; lengths: Uint32Array })
  | { refusal: { code: ErrorCode; message: string; param: string } }
  // An unexpected error is reported as a message, too. If it were thrown, it would end the worker, and with it the work
  // for all other calls.
  | { fault: string }
)

/** A job with the UTF-8 bytes of its text. */
export type BytesJob = Omit<ReadJob, 'text'> & { bytes: Uint8Array }

const decoder = new TextDecoder()

function read({ bytes, dialect, address }: BytesJob): Omit<Extract<ReadAnswer, { facts: unknown }>, 'id'> {
  const conversation = callerDialects[dialect].decodeRequest(JSON.parse(decoder.decode(bytes)) as JsonObject, address)
  const facts = factsOf(conversation)
  const { texts } = facts.prompt
  return {
    facts: { ...facts, prompt: { ...facts.prompt, texts: [] } },
    promptGuess: quickEstimate(facts.prompt),
    needs: needsOf(conversation),
    namesFiles: namesAddresses(conversation),
    joinedTexts: texts.join(''),
    lengths: Uint32Array.from(texts, ({ length }) => length),
  }
}

addEventListener('message', ({ data }: MessageEvent<BytesJob & { id: number }>) => {
  const { id } = data
  try {
    postMessage({ id, ...read(data) } satisfies ReadAnswer)
  } catch (error) {
    postMessage({ id, ...failed(error) } satisfies ReadAnswer)
  }
})

function failed(error: unknown) {
  if (!(error instanceof GatewayError))
    return { fault: error instanceof Error ? (error.stack ?? error.message) : String(error) }
  const { code, message, param } = error
  return { refusal: { code, message, param } }
}
