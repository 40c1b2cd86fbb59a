import type { Candidate, GenerateContentResponseUsageMetadata } from '@google/genai'
import type { JsonObject } from '../../lib/json.ts'
import type { Always } from '../neutral/always.ts'

/**
 * A response as client programs of generateContent read it. Google's schema requires none of these fields, but the
 * service always sends all of them.
 */
export interface WireAnswer {
  [other: string]: unknown
  candidates: WireCandidate[]
  modelVersion: string
  responseId: string
  usageMetadata?: WireUsage
}

export type WireCandidate = Omit<
  Always<Candidate, 'content' | 'index'>,
  'content' | 'finishReason' | 'groundingMetadata' | 'logprobsResult'
> & {
  content: { role: 'model'; parts: JsonObject[] }
  finishReason?: string
  groundingMetadata?: JsonObject
  logprobsResult?: JsonObject
}

type Counts = Omit<GenerateContentResponseUsageMetadata, 'trafficType' | Details>
type Details = 'cacheTokensDetails' | 'candidatesTokensDetails' | 'promptTokensDetails' | 'toolUsePromptTokensDetails'

export type WireUsage = Always<Counts, 'promptTokenCount' | 'candidatesTokenCount' | 'totalTokenCount'> & {
  [D in Details]?: { modality: string; tokenCount: number }[]
}
