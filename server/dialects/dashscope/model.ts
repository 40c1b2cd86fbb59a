/** A model that reads messages with images, audio or video, and only at its own URL. */
export function isMultimodal(model: string): boolean {
  return /-(?:vl|audio|omni|ocr)(?:-|$)|^qvq|^qwen3\.[5-9]-|^qwen-(?:image|tts|asr)|^qwen3-(?:asr|tts)/.test(
    bareModel(model),
  )
}

const searchSuffix = '-internet'

/** The service's name of a model; a suffix of ours enables search. */
export function bareModel(model: string): string {
  return model.endsWith(searchSuffix) ? model.slice(0, -searchSuffix.length) : model
}

/** The model is asked to search the web first. */
export function wantsSearch(model: string): boolean {
  return model.endsWith(searchSuffix)
}
