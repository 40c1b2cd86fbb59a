import type { RelayMode } from './relay-modes.ts'

/** Patterns in the names of models that are not for chat; the first match counts. */
const kinds: readonly (readonly [RegExp, RelayMode])[] = [
  [/rerank/i, 'rerank'],
  [/embed|\bbge-|semantic_similarity/i, 'embeddings'],
  [/moderation/i, 'moderations'],
  [/turbo-instruct|davinci|babbage/i, 'completions'],
  [/image|dall-e|flux|stable-diffusion|sdxl|cogview|wanx|seedream|kolors|recraft|ideogram|midjourney/i, 'images'],
  [/tts/i, 'speech'],
  [/whisper|transcribe/i, 'transcriptions'],
]

/** The kind of call that a model is for, judged by its name; `chat` if the name indicates no other kind. */
export function modeOfModel(model: string): RelayMode {
  return kinds.find(([name]) => name.test(model))?.[1] ?? 'chat'
}

/** Whether a model can chat. Chat models are listed first if nothing else decides the order. */
export function isChatModel(model: string): boolean {
  return modeOfModel(model) === 'chat'
}
