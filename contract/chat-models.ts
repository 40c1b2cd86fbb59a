const other =
  /embed|\bbge-|semantic_similarity|moderation|rerank|image|dall-e|tts|whisper|transcribe|turbo-instruct|davinci|babbage/i

/** Whether a model can be talked to, as far as its name tells: where nothing better is known, such a one comes first. */
export function isChatModel(model: string): boolean {
  return !other.test(model)
}
