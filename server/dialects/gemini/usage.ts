import type { Usage } from '../../../contract/usage.ts'
import { isObject, type JsonObject } from '../../lib/json.ts'
import { looseCount, looseList } from '../fields.ts'

/**
 * `usageMetadata` (Gemini API reference) → Usage. Thoughts and what tools added to the prompt are counted beside the
 * totals there and within them here. Undefined when the prompt is not counted.
 */
export function usageIn(raw: unknown): Usage | undefined {
  if (!isObject(raw) || !isCount(raw['promptTokenCount'])) return undefined
  const prompt = raw['promptTokenCount']
  const candidates = looseCount(raw['candidatesTokenCount'])
  const thoughts = looseCount(raw['thoughtsTokenCount'])
  const tools = looseCount(raw['toolUsePromptTokenCount'])
  // A service that counts the thoughts within the answer shows it in its total.
  const isWithin =
    thoughts > 0 && thoughts <= candidates && looseCount(raw['totalTokenCount']) === prompt + candidates + tools
  const cachedTokens = looseCount(raw['cachedContentTokenCount'])
  const cachedAudioTokens = modality(raw['cacheTokensDetails'], 'AUDIO')
  const audioPromptTokens = modality(raw['promptTokensDetails'], 'AUDIO')
  const imagePromptTokens = modality(raw['promptTokensDetails'], 'IMAGE')
  const audioCompletionTokens = modality(raw['candidatesTokensDetails'], 'AUDIO')
  const imageCompletionTokens = modality(raw['candidatesTokensDetails'], 'IMAGE')
  return {
    promptTokens: prompt + tools,
    completionTokens: candidates + (isWithin ? 0 : thoughts),
    ...(cachedTokens > 0 && { cachedTokens }),
    ...(cachedAudioTokens > 0 && { cachedAudioTokens }),
    ...(audioPromptTokens > 0 && { audioPromptTokens }),
    ...(imagePromptTokens > 0 && { imagePromptTokens }),
    ...(thoughts > 0 && { reasoningTokens: thoughts }),
    ...(audioCompletionTokens > 0 && { audioCompletionTokens }),
    ...(imageCompletionTokens > 0 && { imageCompletionTokens }),
  }
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
}

function modality(details: unknown, name: string): number {
  return looseList(details)
    .filter((each) => each['modality'] === name)
    .reduce((sum, each) => sum + looseCount(each['tokenCount']), 0)
}

/** Usage → `usageMetadata`. */
export function usageOut(usage: Usage): JsonObject {
  const { promptTokens, completionTokens, cachedTokens, cachedAudioTokens, reasoningTokens = 0 } = usage
  const prompt = details(promptTokens, usage.audioPromptTokens, usage.imagePromptTokens)
  const answer = completionTokens - reasoningTokens
  const candidates = details(answer, usage.audioCompletionTokens, usage.imageCompletionTokens)
  return {
    promptTokenCount: promptTokens,
    candidatesTokenCount: answer,
    totalTokenCount: promptTokens + completionTokens,
    ...(cachedTokens !== undefined && { cachedContentTokenCount: cachedTokens }),
    ...(cachedTokens !== undefined &&
      cachedAudioTokens !== undefined && { cacheTokensDetails: details(cachedTokens, cachedAudioTokens) }),
    ...(reasoningTokens > 0 && { thoughtsTokenCount: reasoningTokens }),
    promptTokensDetails: prompt,
    ...((usage.audioCompletionTokens || usage.imageCompletionTokens) && { candidatesTokensDetails: candidates }),
  }
}

function details(total: number, audio = 0, image = 0): JsonObject[] {
  const all = [
    { modality: 'TEXT', tokenCount: total - audio - image },
    { modality: 'IMAGE', tokenCount: image },
    { modality: 'AUDIO', tokenCount: audio },
  ]
  return all.filter(({ tokenCount }) => tokenCount > 0)
}
