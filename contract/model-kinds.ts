import type { RelayMode } from './relay-modes.ts'

/** What stands in the names of models that do not chat; the first that fits counts. */
const kinds: readonly (readonly [RegExp, RelayMode])[] = [
  [/rerank/i, 'rerank'],
  [/embed|\bbge-|semantic_similarity/i, 'embeddings'],
  [/moderation/i, 'moderations'],
  [/turbo-instruct|davinci|babbage/i, 'completions'],
  [/image|dall-e|flux|stable-diffusion|sdxl|cogview|wanx|seedream|kolors|recraft|ideogram|midjourney/i, 'images'],
  [/tts/i, 'speech'],
  [/whisper|transcribe/i, 'transcriptions'],
]

/** The kind of call that a model is for, as far as its name tells. */
export function modeOfModel(model: string): RelayMode {
  return kinds.find(([name]) => name.test(model))?.[1] ?? 'chat'
}

/** Whether a model can be talked to: where nothing better is known, such a one comes first. */
export function isChatModel(model: string): boolean {
  return modeOfModel(model) === 'chat'
}
