import type { Usage } from '../../../contract/usage.ts'
import type { WireUsage } from './wire.ts'

/** Usage → `usage` of a response (OpenAI API reference, "The response object"). */
export function usageOut(usage: Usage): WireUsage {
  const { promptTokens, completionTokens, cachedTokens = 0, cacheWriteTokens = 0, reasoningTokens = 0 } = usage
  return {
    input_tokens: promptTokens,
    input_tokens_details: { cached_tokens: cachedTokens, cache_write_tokens: cacheWriteTokens },
    output_tokens: completionTokens,
    output_tokens_details: { reasoning_tokens: reasoningTokens },
    total_tokens: promptTokens + completionTokens,
  }
}
