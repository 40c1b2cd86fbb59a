import { ok } from './chat.ts'
import { status } from './errors.ts'
import {
  okBilling,
  okEmbeddings,
  okImages,
  okModels,
  okModerations,
  okPricing,
  okRerank,
  okSpeech,
  okTranscription,
} from './media.ts'
import { type Behaviour, behaviour } from './types.ts'

const BY_PATH: readonly (readonly [RegExp, () => Behaviour])[] = [
  [/\/completions$/, ok],
  [/\/embeddings$/, okEmbeddings],
  [/\/rerank$/, okRerank],
  [/\/moderations$/, okModerations],
  [/\/images\/(generations|edits|variations)$/, okImages],
  [/\/audio\/speech$/, okSpeech],
  [/\/audio\/(transcriptions|translations)$/, okTranscription],
  [/\/models(\/[^/]+)?$/, okModels],
  [/\/api\/pricing$/, okPricing],
  [/\/dashboard\/billing\/(subscription|usage)$/, okBilling],
]

/** A valid response of the kind that the path requests, or 404 for paths that OpenAI does not have. */
export function answerByPath(): Behaviour {
  return behaviour('answerByPath', (exchange) => {
    const known = BY_PATH.find(([pattern]) => pattern.test(exchange.request.path))
    return (known ? known[1]() : status(404, { message: `Invalid URL (${exchange.request.path})` })).run(exchange)
  })
}
