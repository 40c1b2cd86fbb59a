import type { Usage } from '../../../contract/usage.ts'
import { isObject, type JsonObject } from '../../lib/json.ts'
import { looseCount, looseObject } from '../fields.ts'

/**
 * Anthropic's `usage` (API reference, "Usage") → Usage. Tokens read from and written to the cache are counted beside
 * `input_tokens` there and within the prompt here. Undefined when a total is missing or no count.
 */
export function usageIn(raw: JsonObject | undefined): Usage | undefined {
  if (!raw) return undefined
  const input = raw['input_tokens']
  const output = raw['output_tokens']
  if (!isCount(input) || !isCount(output)) return undefined
  const cachedTokens = looseCount(raw['cache_read_input_tokens'])
  const kept = looseObject(raw['cache_creation'])
  const cacheWrite1hTokens = looseCount(kept['ephemeral_1h_input_tokens'])
  const written = looseCount(raw['cache_creation_input_tokens'])
  const cacheWriteTokens = Math.max(written, looseCount(kept['ephemeral_5m_input_tokens']) + cacheWrite1hTokens)
  const thought = looseCount(looseObject(raw['output_tokens_details'])['thinking_tokens'])
  return {
    promptTokens: input + cachedTokens + cacheWriteTokens,
    completionTokens: output,
    ...(cachedTokens > 0 && { cachedTokens }),
    ...(cacheWriteTokens > 0 && { cacheWriteTokens }),
    ...(cacheWrite1hTokens > 0 && { cacheWrite1hTokens }),
    ...(thought > 0 && thought <= output && { reasoningTokens: thought }),
    ...(typeof raw['speed'] === 'string' && { tier: raw['speed'] }),
  }
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
}

/** Usage → Anthropic's `usage`. */
export function usageOut(usage: Usage): JsonObject {
  const { promptTokens, completionTokens, cachedTokens = 0, cacheWriteTokens = 0, cacheWrite1hTokens = 0 } = usage
  return {
    input_tokens: Math.max(0, promptTokens - cachedTokens - cacheWriteTokens),
    cache_creation_input_tokens: cacheWriteTokens,
    cache_read_input_tokens: cachedTokens,
    ...(cacheWriteTokens > 0 && {
      cache_creation: {
        ephemeral_5m_input_tokens: Math.max(0, cacheWriteTokens - cacheWrite1hTokens),
        ephemeral_1h_input_tokens: cacheWrite1hTokens,
      },
    }),
    output_tokens: completionTokens,
    ...(usage.reasoningTokens !== undefined && { output_tokens_details: { thinking_tokens: usage.reasoningTokens } }),
  }
}

/** The counts of a stream's first event with those of a later one, which says only what changed. */
export function laterUsage(first: JsonObject, later: unknown): JsonObject {
  if (!isObject(later)) return first
  return { ...first, ...Object.fromEntries(Object.entries(later).filter(([, value]) => value !== null)) }
}
