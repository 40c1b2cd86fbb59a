import type { Usage } from '../../../contract/usage.ts'
import type { GoesOn } from '../call/goes-on.ts'
import type { Charge, Charging, Measure } from './charging-types.ts'

/**
 * The price of an attempt that continues a broken stream, plus the amount already settled for the earlier attempts. The
 * hold must cover both amounts, and both are charged.
 */
export function chargingAfter(inner: Charging, before: GoesOn): Charging {
  const { quota, cost } = before
  return {
    sheet: inner.sheet,
    groupRatio: inner.groupRatio,
    tools: inner.tools,
    ...(inner.cost && cost !== undefined && { cost: chargingAfter(inner.cost, { ...before, quota: cost }) }),
    reserved: (promptTokens) => inner.reserved(promptTokens),
    ceiling: (promptTokens) => quota + inner.ceiling(promptTokens),
    least: (promptTokens) => quota + inner.least(promptTokens),
    soFar: (promptTokens, completionTokens) => quota + inner.soFar(promptTokens, completionTokens),
    paidTokens: (units, promptTokens) => (units < quota ? -1 : inner.paidTokens(units - quota, promptTokens)),
    affordable: (units, promptTokens) => inner.affordable(Math.max(0, units - quota), promptTokens),
    charge: (measure) => chargeAfter(inner, measure, before),
  }
}

function chargeAfter(inner: Charging, measure: Measure, before: GoesOn): Charge {
  // The prices of the attempts may differ, so only the usage of the last attempt is charged here, not the sum.
  const own = inner.charge({ ...measure, usage: measure.parts?.at(-1) ?? measure.usage })
  const tools = [before.tools, own.tools].filter((text) => text !== undefined).join(', ')
  return {
    ...own,
    quota: before.quota + own.quota,
    promptTokens: before.usage.promptTokens + own.promptTokens,
    completionTokens: before.usage.completionTokens + own.completionTokens,
    estimated: before.isEstimated || own.estimated,
    ...(tools !== '' && { tools }),
  }
}

/** The measure of a whole call that took several attempts, computed from the measure of the last attempt. */
export function measureAfter(measure: Measure, before: GoesOn): Measure {
  return { ...measure, usage: addedUsage(before.usage, measure.usage), parts: [before.usage, measure.usage] }
}

const counts = [
  'cachedTokens',
  'cachedAudioTokens',
  'cachedImageTokens',
  'cacheWriteTokens',
  'cacheWrite1hTokens',
  'audioPromptTokens',
  'imagePromptTokens',
  'reasoningTokens',
  'audioCompletionTokens',
  'imageCompletionTokens',
] as const

/** The sum of the usage of two attempts, with the service tier of the second. */
export function addedUsage(first: Usage, second: Usage): Usage {
  const known = counts.filter((name) => first[name] !== undefined || second[name] !== undefined)
  return {
    ...second,
    promptTokens: first.promptTokens + second.promptTokens,
    completionTokens: first.completionTokens + second.completionTokens,
    ...Object.fromEntries(known.map((name) => [name, (first[name] ?? 0) + (second[name] ?? 0)])),
  }
}
