import type { Usage } from '../../../contract/usage.ts'
import { isObject, type JsonObject } from '../../lib/json.ts'

/**
 * OpenAI's `usage` object and the variants of services that speak its dialect → Usage. Returns undefined when the
 * figures are missing, negative, fractional or contradict each other: then they are not believed.
 */
export function readUsage(raw: JsonObject | undefined): Usage | undefined {
  if (!raw) return undefined
  const prompt = count(raw['prompt_tokens'] ?? raw['input_tokens'])
  // Embeddings and moderations have no completion; a service that leaves the field out means 0.
  const completion = count(raw['completion_tokens'] ?? raw['output_tokens'] ?? 0)
  if (prompt === undefined || completion === undefined) return undefined
  const promptDetails = details(raw['prompt_tokens_details'] ?? raw['input_tokens_details'])
  const completionDetails = details(raw['completion_tokens_details'] ?? raw['output_tokens_details'])
  const reasoning = count(completionDetails['reasoning_tokens'])
  // DeepSeek and Moonshot report cache hits beside the totals, everybody else within the details.
  const cached = count(promptDetails['cached_tokens'] ?? raw['prompt_cache_hit_tokens'] ?? raw['cached_tokens'])
  const cacheWrite = count(promptDetails['cache_write_tokens'] ?? promptDetails['cache_creation_tokens'])
  const audioIn = count(promptDetails['audio_tokens'])
  const imageIn = count(promptDetails['image_tokens'])
  const audioOut = count(completionDetails['audio_tokens'])
  const usage: Usage = {
    promptTokens: prompt,
    completionTokens: completion + outsideReasoning(raw, prompt, completion, reasoning),
    ...(cached && { cachedTokens: cached }),
    ...(cacheWrite && { cacheWriteTokens: cacheWrite }),
    ...(audioIn && { audioPromptTokens: audioIn }),
    ...(imageIn && { imagePromptTokens: imageIn }),
    ...(reasoning && { reasoningTokens: reasoning }),
    ...(audioOut && { audioCompletionTokens: audioOut }),
  }
  return consistent(usage) ? usage : undefined
}

/** xAI counts reasoning beside completion_tokens; its total_tokens shows it. Everybody else counts it within. */
function outsideReasoning(raw: JsonObject, prompt: number, completion: number, reasoning: number | undefined): number {
  if (!reasoning) return 0
  return count(raw['total_tokens']) === prompt + completion + reasoning ? reasoning : 0
}

function consistent(usage: Usage): boolean {
  const promptParts = (usage.cachedTokens ?? 0) + (usage.cacheWriteTokens ?? 0)
  return (
    promptParts <= usage.promptTokens &&
    (usage.audioPromptTokens ?? 0) + (usage.imagePromptTokens ?? 0) <= usage.promptTokens &&
    (usage.reasoningTokens ?? 0) + (usage.audioCompletionTokens ?? 0) <= usage.completionTokens
  )
}

function count(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined
}

function details(value: unknown): JsonObject {
  return isObject(value) ? value : {}
}

/** The usage object of a reply or a stream chunk, wherever the service puts it. */
export function usageOf(body: JsonObject): JsonObject | undefined {
  if (isObject(body['usage'])) return body['usage']
  // Groq's streams carry it in an object of their own, Moonshot's within the choice.
  const groq = body['x_groq']
  if (isObject(groq) && isObject(groq['usage'])) return groq['usage']
  const choices = body['choices']
  const first: unknown = Array.isArray(choices) ? choices[0] : undefined
  if (isObject(first) && isObject(first['usage'])) return first['usage']
  return undefined
}
