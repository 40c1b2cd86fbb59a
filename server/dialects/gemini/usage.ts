import type { Usage } from '../../../contract/usage.ts'
import { isObject, type JsonObject } from '../../lib/json.ts'
import { looseCount, looseList } from '../neutral/fields.ts'
import type { WireUsage } from './wire.ts'

/**
 * `usageMetadata` (Gemini API reference) → Usage. Google reports thoughts, and tokens that tools added to the prompt,
 * separately from the counts of the answer and the prompt; Usage includes them in these counts. Undefined if there is
 * no valid prompt count.
 */
export function usageIn(raw: unknown): Usage | undefined {
  if (!isObject(raw) || !isCount(raw['promptTokenCount'])) return undefined
  const prompt = raw['promptTokenCount']
  const candidates = looseCount(raw['candidatesTokenCount'])
  const thoughts = looseCount(raw['thoughtsTokenCount'])
  const tools = looseCount(raw['toolUsePromptTokenCount'])
  const total = looseCount(raw['totalTokenCount'])
  // The total shows whether the service counts the thoughts as part of the answer.
  const isWithin = thoughts > 0 && thoughts <= candidates && total === prompt + candidates + tools
  const completion = candidates + (isWithin ? 0 : thoughts)
  const beyond = Math.max(0, total - prompt - tools - completion)
  const cachedTokens = looseCount(raw['cachedContentTokenCount'])
  // The total may exceed the sum of the other counts. If the difference equals the cached tokens, an intermediate
  // gateway counted them separately from the prompt. Any other difference consists of thoughts, which some models count
  // only in the total.
  const isCachedBeside = beyond > 0 && beyond === cachedTokens
  const parts = {
    cachedTokens,
    cachedAudioTokens: modality(raw['cacheTokensDetails'], 'AUDIO'),
    cachedImageTokens: modality(raw['cacheTokensDetails'], 'IMAGE'),
    audioPromptTokens: promptModality(raw, 'AUDIO'),
    imagePromptTokens: promptModality(raw, 'IMAGE'),
    reasoningTokens: thoughts,
    audioCompletionTokens: modality(raw['candidatesTokensDetails'], 'AUDIO'),
    imageCompletionTokens: modality(raw['candidatesTokensDetails'], 'IMAGE'),
  }
  return {
    promptTokens: prompt + tools + (isCachedBeside ? beyond : 0),
    completionTokens: completion + (isCachedBeside ? 0 : beyond),
    ...Object.fromEntries(Object.entries(parts).filter(([, tokens]) => tokens > 0)),
    ...(beyond > 0 &&
      !isCachedBeside && {
        doubt: `${beyond} tokens of the total are neither prompt nor completion: charged as completion`,
      }),
  }
}

function promptModality(raw: JsonObject, name: string): number {
  return modality(raw['promptTokensDetails'], name) + modality(raw['toolUsePromptTokensDetails'], name)
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
export function usageOut(usage: Usage): WireUsage {
  const {
    promptTokens,
    completionTokens,
    cachedTokens,
    cachedAudioTokens,
    cachedImageTokens,
    reasoningTokens = 0,
  } = usage
  const prompt = details(promptTokens, usage.audioPromptTokens, usage.imagePromptTokens)
  const answer = completionTokens - reasoningTokens
  const candidates = details(answer, usage.audioCompletionTokens, usage.imageCompletionTokens)
  return {
    promptTokenCount: promptTokens,
    candidatesTokenCount: answer,
    totalTokenCount: promptTokens + completionTokens,
    ...(cachedTokens !== undefined && { cachedContentTokenCount: cachedTokens }),
    ...(cachedTokens !== undefined &&
      (cachedAudioTokens !== undefined || cachedImageTokens !== undefined) && {
        cacheTokensDetails: details(cachedTokens, cachedAudioTokens, cachedImageTokens),
      }),
    ...(reasoningTokens > 0 && { thoughtsTokenCount: reasoningTokens }),
    promptTokensDetails: prompt,
    ...((usage.audioCompletionTokens || usage.imageCompletionTokens) && { candidatesTokensDetails: candidates }),
  }
}

function details(total: number, audio = 0, image = 0): { modality: string; tokenCount: number }[] {
  const all = [
    { modality: 'TEXT', tokenCount: total - audio - image },
    { modality: 'IMAGE', tokenCount: image },
    { modality: 'AUDIO', tokenCount: audio },
  ]
  return all.filter(({ tokenCount }) => tokenCount > 0)
}
