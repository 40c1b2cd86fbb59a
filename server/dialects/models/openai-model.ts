/** Models of OpenAI's that refuse `max_tokens` and want `max_completion_tokens` (OpenAI API reference, "max_completion_tokens"). */
export function wantsCompletionLimit(model: string): boolean {
  return /^(?:.*\/)?(?:o\d|gpt-[5-9])/.test(model)
}

/** Models that think, and then refuse every temperature, top_p and penalty but the usual (OpenAI docs, "Using GPT-5.2"). */
export function fixesSampling(model: string): boolean {
  return wantsCompletionLimit(model) && !/chat|search/.test(model)
}
