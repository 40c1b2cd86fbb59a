/** True for a model that reads messages with images, audio or video. Such models have their own URL. */
export function isMultimodal(model: string): boolean {
  return /-(?:vl|audio|omni|ocr)(?:-|$)|^qvq|^qwen3\.[5-9]-|^qwen-(?:image|tts|asr)|^qwen3-(?:asr|tts)/.test(
    bareModel(model),
  )
}

const searchSuffix = '-internet'

/** The service's name for a model: the name without the suffix by which this gateway enables search. */
export function bareModel(model: string): string {
  return model.endsWith(searchSuffix) ? model.slice(0, -searchSuffix.length) : model
}

/** True if the model is asked to search the web first. */
export function wantsSearch(model: string): boolean {
  return model.endsWith(searchSuffix)
}
