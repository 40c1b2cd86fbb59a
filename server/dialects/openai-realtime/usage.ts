import type { Usage } from '../../../contract/usage.ts'
import { isObject, type JsonObject } from '../../lib/json.ts'

/**
 * The usage of one response (OpenAI Realtime API reference, "response.done") → Usage. Undefined if a total is missing,
 * negative or fractional, because then no part of the usage is trusted. A part that cannot belong to its total is
 * dropped, so its tokens are charged at the base price.
 */
export function readRealtimeUsage(raw: unknown): Usage | undefined {
  if (!isObject(raw)) return undefined
  const promptTokens = count(raw['input_tokens'])
  const completionTokens = count(raw['output_tokens'])
  if (promptTokens === undefined || completionTokens === undefined) return undefined
  if (!Number.isSafeInteger(promptTokens + completionTokens)) return undefined
  return {
    promptTokens,
    completionTokens,
    ...promptParts(details(raw, 'input_token_details', 'input_tokens_details'), promptTokens),
    ...completionParts(details(raw, 'output_token_details', 'output_tokens_details'), completionTokens),
  }
}

function promptParts(counts: JsonObject, total: number): Partial<Usage> {
  const ofCached = details(counts, 'cached_tokens_details')
  const sound = atMost(total, counts['audio_tokens'])
  // Image tokens are limited to the total minus the audio tokens.
  const images = Math.min(atMost(total, counts['image_tokens']), total - sound)
  const cached = count(counts['cached_tokens']) ?? 0
  const cachedSound = Math.min(count(ofCached['audio_tokens']) ?? 0, cached, sound)
  const cachedImages = Math.min(count(ofCached['image_tokens']) ?? 0, cached - cachedSound, images)
  return {
    ...(sound > 0 && { audioPromptTokens: sound }),
    ...(images > 0 && { imagePromptTokens: images }),
    ...(cached > 0 &&
      cached <= total && {
        cachedTokens: cached,
        ...(cachedSound > 0 && { cachedAudioTokens: cachedSound }),
        ...(cachedImages > 0 && { cachedImageTokens: cachedImages }),
      }),
  }
}

/** A count that can be part of the total; 0 if there is none or if it exceeds the total. */
function atMost(total: number, value: unknown): number {
  const tokens = count(value) ?? 0
  return tokens <= total ? tokens : 0
}

/**
 * Audio and reasoning tokens of the completion. If their sum exceeds the total, the service must have counted the
 * reasoning in addition to the total, so the reasoning is added to the total.
 */
function completionParts(counts: JsonObject, total: number): Partial<Usage> {
  const sound = count(counts['audio_tokens']) ?? 0
  const reasoning = count(counts['reasoning_tokens']) ?? 0
  const parts = {
    ...(sound > 0 && { audioCompletionTokens: sound }),
    ...(reasoning > 0 && { reasoningTokens: reasoning }),
  }
  if (sound + reasoning <= total) return parts
  return sound <= total && reasoning > 0 ? { ...parts, completionTokens: total + reasoning } : {}
}

const classes = [
  'cachedTokens',
  'cachedAudioTokens',
  'cachedImageTokens',
  'audioPromptTokens',
  'imagePromptTokens',
  'reasoningTokens',
  'audioCompletionTokens',
] as const

/** The sum of the usage of several responses. */
export function sumOf(usages: readonly Usage[]): Usage {
  const sum = (name: keyof Omit<Usage, 'tier' | 'doubt'>) =>
    usages.reduce((total, usage) => total + (usage[name] ?? 0), 0)
  const parts = classes.map((name) => [name, sum(name)] as const).filter(([, tokens]) => tokens > 0)
  return {
    promptTokens: sum('promptTokens'),
    completionTokens: sum('completionTokens'),
    ...Object.fromEntries(parts),
  }
}

function details(raw: JsonObject, ...names: string[]): JsonObject {
  return names.map((name) => raw[name]).find(isObject) ?? {}
}

function count(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined
}
