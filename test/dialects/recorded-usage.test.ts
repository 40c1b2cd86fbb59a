// Every recorded usage report: the parsed counts stay within its totals, and caching never makes a call cost more.
import { describe, expect, test } from 'bun:test'
import type { Usage } from '../../contract/usage.ts'
import { chargeTokens, ratioOne } from '../../server/billing/price.ts'
import { createPriceBook } from '../../server/billing/price-book.ts'
import { usageIn as anthropicUsage } from '../../server/dialects/anthropic-messages/usage.ts'
import { usageIn as bedrockUsage } from '../../server/dialects/bedrock-converse/reply.ts'
import { usageIn as cohereUsage } from '../../server/dialects/cohere-chat/reply.ts'
import { usageIn as geminiUsage } from '../../server/dialects/gemini/usage.ts'
import { readUsage } from '../../server/dialects/openai-shared/openai-usage.ts'
import { isObject, type JsonObject, tryParse } from '../../server/lib/json.ts'
import { listCases, loadCase, sseData } from '../helpers/recordings.ts'

const prices = { ModelRatio: 8, CompletionRatio: 5, CacheRatio: 0.5, AudioRatio: 2, ImageRatio: 3 }
const sheet = createPriceBook(
  Object.fromEntries(Object.entries(prices).map(([name, ratio]) => [name, JSON.stringify({ m: ratio })])),
).sheet('m', 1)

/** All usage objects at any depth, found by their field names. */
function* usagesIn(value: unknown): Generator<JsonObject> {
  if (Array.isArray(value)) for (const each of value as unknown[]) yield* usagesIn(each)
  if (!isObject(value)) return
  for (const [name, inner] of Object.entries(value)) {
    if (isObject(inner) && /^usage(?:_?metadata)?$/i.test(name)) yield inner
    yield* usagesIn(inner)
  }
}

function read(raw: JsonObject): Usage | undefined {
  if ('promptTokenCount' in raw) return geminiUsage(raw)
  if ('inputTokens' in raw) return bedrockUsage(raw)
  if ('billed_units' in raw) return cohereUsage(raw)
  const isAnthropic = 'input_tokens' in raw && !('total_tokens' in raw) && !('input_tokens_details' in raw)
  return isAnthropic ? anthropicUsage(raw) : readUsage(raw)
}

const counts = (value: unknown) => (typeof value === 'number' ? value : 0)

function check(raw: JsonObject): void {
  const usage = read(raw)
  if (!usage || !sheet) return
  const { promptTokens, completionTokens } = usage
  const output = (usage.reasoningTokens ?? 0) + (usage.audioCompletionTokens ?? 0) + (usage.imageCompletionTokens ?? 0)
  const says = JSON.stringify(raw)
  expect({ says, isInside: output <= completionTokens }).toEqual({ says, isInside: true })
  const total = counts(raw['total_tokens'] ?? raw['totalTokenCount'] ?? raw['totalTokens'])
  const isLess = promptTokens + completionTokens < total
  expect({ says, isLess }).toEqual({ says, isLess: false })
  const { cachedTokens: _, cachedAudioTokens: _a, cachedImageTokens: _i, ...fresh } = usage
  const isMoreExpensive = chargeTokens(usage, sheet, ratioOne) > chargeTokens(fresh, sheet, ratioOne)
  expect({ says, isMoreExpensive }).toEqual({ says, isMoreExpensive: false })
}

describe('usage in recordings', () => {
  const providers = [...new Set(listCases().map(({ provider }) => provider))]
  test.each(providers)('of %s', (provider) => {
    for (const { id, kind } of listCases({ provider })) {
      if (kind !== 'json' && kind !== 'sse') continue
      const recorded = loadCase(id)
      const documents = kind === 'json' ? [recorded.responseText] : sseData(recorded)
      for (const document of documents) for (const raw of usagesIn(tryParse(document))) check(raw)
    }
  })
})
