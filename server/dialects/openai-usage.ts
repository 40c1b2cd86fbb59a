import type { Usage } from '../../contract/usage.ts'
import { isObject, type JsonObject } from '../lib/json.ts'

/**
 * OpenAI's `usage` object and the variants of services that speak its dialect → Usage. Returns undefined when a total is
 * missing, negative or fractional: then nothing of it is believed. The totals go before their parts: a part that cannot
 * belong to its total (Azure reports more cached tokens than prompt tokens for Grok) is left out, so that what it is
 * about costs the plain price.
 */
export function readUsage(raw: JsonObject | undefined): Usage | undefined {
  if (!raw) return undefined
  const prompt = count(raw['prompt_tokens'] ?? raw['input_tokens'])
  // Embeddings and moderations have no completion; a service that leaves the field out means 0.
  const completion = count(raw['completion_tokens'] ?? raw['output_tokens'] ?? 0)
  if (prompt === undefined || completion === undefined) return undefined
  const parts = readParts(raw)
  if (parts === noParts && Number.isSafeInteger(prompt + completion))
    return named(raw, { promptTokens: prompt, completionTokens: completion })
  const beside = countedBeside(raw, parts)
  const usage = { promptTokens: prompt + beside.prompt, completionTokens: completion + beside.completion }
  return Number.isSafeInteger(usage.promptTokens + usage.completionTokens)
    ? named(raw, { ...usage, ...fitting(parts, usage) })
    : undefined
}

function named({ service_tier: tier }: JsonObject, usage: Usage): Usage {
  return typeof tier === 'string' ? { ...usage, tier } : usage
}

type Parts = Omit<Usage, 'promptTokens' | 'completionTokens'>

const noParts: Parts = {}

function readParts(raw: JsonObject): Parts {
  // Transcriptions spell it "input_token_details" (OpenAI API reference, "transcription object").
  const prompt = details(raw['prompt_tokens_details'] ?? raw['input_tokens_details'] ?? raw['input_token_details'])
  const completion = details(raw['completion_tokens_details'] ?? raw['output_tokens_details'])
  // DeepSeek, Moonshot, Mistral and LiteLLM report cache hits beside the totals, everybody else within the details.
  const cached = first(
    prompt['cached_tokens'],
    raw['prompt_cache_hit_tokens'],
    raw['cached_tokens'],
    raw['num_cached_tokens'],
    raw['cache_read_input_tokens'],
  )
  const cacheWrite = first(
    prompt['cache_write_tokens'],
    prompt['cache_creation_tokens'],
    raw['cache_creation_input_tokens'],
  )
  // Mistral's transcriptions name the length of the sound, and its tokens in the total only.
  const sound = first(raw['prompt_audio_seconds']) ? countedBeyond(raw) : undefined
  const audioIn = first(prompt['audio_tokens'], sound)
  const imageIn = first(prompt['image_tokens'])
  const reasoning = first(completion['reasoning_tokens'])
  const audioOut = first(completion['audio_tokens'])
  const imageOut = first(completion['image_tokens'])
  if (!(cached || cacheWrite || audioIn || imageIn || reasoning || audioOut || imageOut)) return noParts
  return {
    ...(cached && { cachedTokens: cached }),
    ...(cacheWrite && { cacheWriteTokens: cacheWrite }),
    ...(audioIn && { audioPromptTokens: audioIn }),
    ...(imageIn && { imagePromptTokens: imageIn }),
    ...(reasoning && { reasoningTokens: reasoning }),
    ...(audioOut && { audioCompletionTokens: audioOut }),
    ...(imageOut && { imageCompletionTokens: imageOut }),
  }
}

/**
 * Tokens that a service counts beside its totals instead of within: total_tokens shows them. So does xAI with reasoning
 * and Mistral with sound. Vercel's gateway leaves reasoning out of total_tokens too, but not out of the price it names.
 */
function countedBeside(raw: JsonObject, parts: Parts): { prompt: number; completion: number } {
  const { reasoningTokens = 0, audioPromptTokens = 0, cachedTokens = 0, cacheWriteTokens = 0 } = parts
  const { imageCompletionTokens = 0 } = parts
  const rest = countedBeyond(raw)
  if (imageCompletionTokens > 0 && rest === imageCompletionTokens) return { prompt: 0, completion: rest }
  if (reasoningTokens > 0 && (rest === reasoningTokens || (rest === 0 && raw['market_cost'] !== undefined)))
    return { prompt: 0, completion: reasoningTokens }
  const isPrompt = rest > 0 && (rest === audioPromptTokens || rest === cachedTokens + cacheWriteTokens)
  return { prompt: isPrompt ? rest : 0, completion: 0 }
}

/** What total_tokens has more than prompt and completion. */
function countedBeyond(raw: JsonObject): number {
  const prompt = count(raw['prompt_tokens'] ?? raw['input_tokens']) ?? 0
  const completion = count(raw['completion_tokens'] ?? raw['output_tokens']) ?? 0
  return Math.max(0, (count(raw['total_tokens']) ?? 0) - prompt - completion)
}

/** The parts that can belong to the totals, each kind by itself. */
function fitting(parts: Parts, { promptTokens, completionTokens }: Usage): Parts {
  const { cachedTokens = 0, cacheWriteTokens = 0, audioPromptTokens = 0, imagePromptTokens = 0 } = parts
  const { reasoningTokens = 0, audioCompletionTokens = 0, imageCompletionTokens = 0 } = parts
  return {
    ...(cachedTokens + cacheWriteTokens <= promptTokens && pick(parts, 'cachedTokens', 'cacheWriteTokens')),
    ...(audioPromptTokens + imagePromptTokens <= promptTokens && pick(parts, 'audioPromptTokens', 'imagePromptTokens')),
    ...(reasoningTokens + audioCompletionTokens + imageCompletionTokens <= completionTokens &&
      pick(parts, 'reasoningTokens', 'audioCompletionTokens', 'imageCompletionTokens')),
  }
}

function pick(parts: Parts, ...names: (keyof Parts)[]): Parts {
  return Object.fromEntries(names.filter((name) => parts[name]).map((name) => [name, parts[name]]))
}

/** The first of the values that is there, as a count; services leave out or null what does not apply. */
function first(...values: unknown[]): number | undefined {
  return count(values.find((value) => value !== undefined && value !== null))
}

function count(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined
}

function details(value: unknown): JsonObject {
  return isObject(value) ? value : {}
}

/** The usage object of a reply or a stream chunk, wherever the service puts it. */
export function usageOf(body: JsonObject): JsonObject | undefined {
  const { usage, service_tier: tier } = body
  // The tier stands beside it, and is a part of what it costs.
  if (isObject(usage)) return typeof tier === 'string' ? { ...usage, service_tier: tier } : usage
  // Groq's streams carry it in an object of their own, Moonshot's within the choice.
  const groq = body['x_groq']
  if (isObject(groq) && isObject(groq['usage'])) return groq['usage']
  const choices = body['choices']
  const first: unknown = Array.isArray(choices) ? choices[0] : undefined
  if (isObject(first) && isObject(first['usage'])) return first['usage']
  return undefined
}
