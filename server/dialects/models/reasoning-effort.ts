import type { Effort, ReasoningWish } from '../neutral/conversation.ts'

/**
 * The thinking budget, in tokens, for each effort, as in Google's OpenAI-compatible API (Gemini API, "OpenAI
 * compatibility").
 */
const budgets: Readonly<Record<Effort, number>> = {
  none: 0,
  minimal: 1024,
  low: 1024,
  medium: 8192,
  high: 24_576,
  xhigh: 32_768,
  max: 32_768,
}

/** The requested thinking budget, in tokens; undefined = the model decides. */
export function budgetOf({ effort, budgetTokens }: ReasoningWish): number | undefined {
  return budgetTokens ?? (effort && budgets[effort])
}

/**
 * Reduces a thinking budget to less than the token limit, because the budget counts toward that limit. This way, the
 * request never allows more tokens than the caller's limit, which is what the hold covers. A budget that does not fit
 * becomes four fifths of the limit, which leaves one fifth for the answer. Returns undefined if that is less than the
 * service accepts.
 */
export function budgetWithin(limit: number | undefined, budget: number, least = 1): number | undefined {
  if (limit === undefined || budget < limit) return budget
  const fitted = Math.floor(limit * 0.8)
  return fitted >= least ? fitted : undefined
}

/** The requested effort, derived from the thinking budget if necessary; undefined = the model decides. */
export function effortOf({ effort, budgetTokens }: ReasoningWish): Effort | undefined {
  if (effort || budgetTokens === undefined) return effort
  // A negative budget means "as much as the model likes" (Gemini API, "thinking budgets").
  if (budgetTokens < 0) return undefined
  const fitting = (['none', 'low', 'medium', 'high'] as const).find((each) => budgetTokens <= budgets[each])
  return fitting ?? 'xhigh'
}
