import type { Usage } from '../../../contract/usage.ts'
import { isObject, type JsonObject } from '../../lib/json.ts'
import { looseCount, looseObject } from '../neutral/fields.ts'
import { geoOf, isUsualTier, partsOf, regionIn, tierAt } from '../wire/service-tier.ts'
import type { WireUsage } from './wire.ts'

/** Token counts, one for each price. `input` does not include cache tokens. */
interface Counts {
  input: number
  output: number
  cached: number
  written: number
  written1h: number
}

/**
 * Anthropic's `usage` (API reference, "Usage") → Usage. Anthropic counts tokens read from and written to the cache in
 * addition to `input_tokens`; Usage counts them as part of the prompt. Undefined if a total is missing or is not a
 * valid count.
 */
export function usageIn(raw: JsonObject | undefined): Usage | undefined {
  const totals = raw && countsIn(raw)
  if (!totals) return undefined
  const { input, output, cached, written, written1h } = billed(totals, raw['iterations'])
  const thought = looseCount(looseObject(raw['output_tokens_details'])['thinking_tokens'])
  const tier = tierAt(typeof raw['speed'] === 'string' ? raw['speed'] : undefined, regionIn(raw['inference_geo']))
  // Normally `output` includes the thinking tokens. They exceed it only if an intermediate gateway counts them
  // separately, and are then added.
  const beside = thought > output ? thought : 0
  return {
    promptTokens: input + cached + written,
    completionTokens: output + beside,
    ...(cached > 0 && { cachedTokens: cached }),
    ...(written > 0 && { cacheWriteTokens: written }),
    ...(written1h > 0 && { cacheWrite1hTokens: written1h }),
    ...(thought > 0 && { reasoningTokens: thought }),
    ...(beside > 0 && { doubt: `${thought} thinking tokens of an output of ${output}: added to it` }),
    ...(tier !== undefined && { tier }),
  }
}

function countsIn(raw: JsonObject): Counts | undefined {
  const input = raw['input_tokens']
  const output = raw['output_tokens']
  if (!isCount(input) || !isCount(output)) return undefined
  const cacheCreation = looseObject(raw['cache_creation'])
  const written1h = looseCount(cacheCreation['ephemeral_1h_input_tokens'])
  return {
    input,
    output,
    cached: looseCount(raw['cache_read_input_tokens']),
    written: Math.max(
      looseCount(raw['cache_creation_input_tokens']),
      looseCount(cacheCreation['ephemeral_5m_input_tokens']) + written1h,
    ),
    written1h,
  }
}

/**
 * The billed counts. The totals omit some billed steps (Anthropic docs, "Compaction", "Advisor tool"). If `iterations`
 * lists the counts of each step, the larger one of the total and the sum of the steps is used. Any other value of
 * `iterations` is ignored.
 */
function billed(totals: Counts, iterations: unknown): Counts {
  if (!Array.isArray(iterations)) return totals
  const sum: Counts = { input: 0, output: 0, cached: 0, written: 0, written1h: 0 }
  for (const each of iterations) {
    const counts = isObject(each) ? countsIn(each) : undefined
    if (!counts) return totals
    for (const key of keys) sum[key] += counts[key]
  }
  for (const key of keys) sum[key] = Math.max(sum[key], totals[key])
  return sum
}

const keys = ['input', 'output', 'cached', 'written', 'written1h'] as const satisfies readonly (keyof Counts)[]

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
}

/** Usage → Anthropic's `usage`; null for counts that the upstream did not report. */
export function usageOut(usage: Usage): WireUsage {
  const { promptTokens, completionTokens, cachedTokens = 0, cacheWriteTokens = 0, cacheWrite1hTokens = 0 } = usage
  const { reasoningTokens } = usage
  return {
    input_tokens: Math.max(0, promptTokens - cachedTokens - cacheWriteTokens),
    cache_creation_input_tokens: cacheWriteTokens,
    cache_read_input_tokens: cachedTokens,
    cache_creation: {
      ephemeral_5m_input_tokens: Math.max(0, cacheWriteTokens - cacheWrite1hTokens),
      ephemeral_1h_input_tokens: cacheWrite1hTokens,
    },
    output_tokens: completionTokens,
    output_tokens_details: reasoningTokens === undefined ? null : { thinking_tokens: reasoningTokens },
    inference_geo: geoOf(usage.tier) ?? null,
    server_tool_use: null,
    ...tierOut(usage.tier),
  }
}

/** Anthropic reports a tier either by name or as a speed. */
function tierOut(name: string | undefined): Pick<WireUsage, 'service_tier' | 'speed'> {
  const { tier } = partsOf(name ?? '')
  if (tier === undefined || tier === '') return { service_tier: null, speed: null }
  const isKnown = tier === 'priority' || tier === 'batch'
  return {
    service_tier: isKnown ? tier : isUsualTier(tier) ? 'standard' : null,
    speed: tier === 'fast' ? 'fast' : null,
  }
}

/** The counts for the last event of a stream, including those that were not yet known at the first event. */
export function lastUsageOut(usage: Usage): LastUsage {
  const { cache_creation, inference_geo, service_tier: _tier, speed: _speed, ...counts } = usageOut(usage)
  return {
    ...counts,
    ...(counts.cache_creation_input_tokens !== 0 && { cache_creation }),
    ...(inference_geo !== null && { inference_geo }),
  }
}

type LastUsage = Omit<WireUsage, 'cache_creation' | 'inference_geo' | 'service_tier' | 'speed'> &
  Partial<Pick<WireUsage, 'cache_creation' | 'inference_geo'>>

/**
 * Merges the counts of a stream's first event with those of a later event, which reports only changes. Counts only
 * grow, so a zero after a real count is ignored.
 */
export function laterUsage(first: JsonObject, later: unknown): JsonObject {
  if (!isObject(later)) return first
  const merged: JsonObject = { ...first }
  for (const [name, value] of Object.entries(later)) {
    const before = first[name]
    if (value === null || (value === 0 && isCount(before))) continue
    merged[name] = isObject(value) && isObject(before) ? laterUsage(before, value) : value
  }
  return merged
}
