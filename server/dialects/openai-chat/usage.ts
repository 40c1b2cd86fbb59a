import type { Usage } from '../../../contract/usage.ts'
import type { WireUsage } from './wire.ts'

/** Usage → OpenAI's `usage` of a chat completion (API reference, "The chat completion object"). */
export function usageOut(usage: Usage): WireUsage {
  const { promptTokens, completionTokens, cachedTokens, cacheWriteTokens, audioPromptTokens, imagePromptTokens } = usage
  const { reasoningTokens, audioCompletionTokens, imageCompletionTokens } = usage
  return {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
    prompt_tokens_details: {
      cached_tokens: cachedTokens ?? 0,
      ...(cacheWriteTokens !== undefined && { cache_write_tokens: cacheWriteTokens }),
      ...(audioPromptTokens !== undefined && { audio_tokens: audioPromptTokens }),
      ...(imagePromptTokens !== undefined && { image_tokens: imagePromptTokens }),
    },
    completion_tokens_details: {
      reasoning_tokens: reasoningTokens ?? 0,
      ...(audioCompletionTokens !== undefined && { audio_tokens: audioCompletionTokens }),
      // This count is from services that generate images. OpenAI's own chat generates none.
      ...(imageCompletionTokens !== undefined && { image_tokens: imageCompletionTokens }),
    },
  }
}
