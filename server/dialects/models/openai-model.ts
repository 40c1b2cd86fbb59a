/**
 * True for OpenAI models that refuse `max_tokens` and require `max_completion_tokens` (OpenAI API reference,
 * "max_completion_tokens").
 */
export function wantsCompletionLimit(model: string): boolean {
  return /^(?:.*\/)?(?:o\d|gpt-[5-9])/.test(model)
}

/**
 * True for models that think and therefore refuse any temperature, top_p or penalty other than the default (OpenAI
 * docs, "Using GPT-5.2").
 */
export function fixesSampling(model: string): boolean {
  return wantsCompletionLimit(model) && !/chat|search/.test(model)
}
