/** A model that reads messages of images, sounds or videos, and only at an address of its own. */
export function isMultimodal(model: string): boolean {
  return /-(?:vl|audio|omni|ocr)(?:-|$)|^qvq|^qwen3\.[5-9]-|^qwen-(?:image|tts|asr)|^qwen3-(?:asr|tts)/.test(
    bareModel(model),
  )
}

const searchSuffix = '-internet'

/** The service's name of a model; a suffix of ours asks for the search. */
export function bareModel(model: string): string {
  return model.endsWith(searchSuffix) ? model.slice(0, -searchSuffix.length) : model
}

/** The model is to search the web first. */
export function wantsSearch(model: string): boolean {
  return model.endsWith(searchSuffix)
}
