import type { Effort, ReasoningWish } from '../neutral/conversation.ts'

/** Tokens of thought that stand for an effort, as Google's OpenAI layer has them (Gemini API, "OpenAI compatibility"). */
const budgets: Readonly<Record<Effort, number>> = {
  none: 0,
  minimal: 1024,
  low: 1024,
  medium: 8192,
  high: 24_576,
  xhigh: 32_768,
  max: 32_768,
}

/** The tokens of thought asked for; undefined = left to the model. */
export function budgetOf({ effort, budgetTokens }: ReasoningWish): number | undefined {
  return budgetTokens ?? (effort && budgets[effort])
}

/**
 * A budget of thought that stays below a limit which thought counts toward, so that what is sent never allows more than
 * was asked and held for: one that does not fit leaves a fifth of the limit for the answer. undefined = what is left for
 * thought is less than the service takes.
 */
export function budgetWithin(limit: number | undefined, budget: number, least = 1): number | undefined {
  if (limit === undefined || budget < limit) return budget
  const fitted = Math.floor(limit * 0.8)
  return fitted >= least ? fitted : undefined
}

/** The effort asked for; undefined = left to the model. */
export function effortOf({ effort, budgetTokens }: ReasoningWish): Effort | undefined {
  if (effort || budgetTokens === undefined) return effort
  // Negative means "as much as the model likes" (Gemini API, "thinking budgets").
  if (budgetTokens < 0) return undefined
  const fitting = (['none', 'low', 'medium', 'high'] as const).find((each) => budgetTokens <= budgets[each])
  return fitting ?? 'xhigh'
}
