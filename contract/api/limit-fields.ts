import * as z from 'zod/mini'
import { maxQuota } from './fields.ts'

const meanings = {
  rpm_limit: 'Maximum number of calls in any 60 seconds; 0 means no limit.',
  tpm_limit: 'Maximum number of tokens in any 60 seconds, prompt and completion together; 0 means no limit.',
  concurrency_limit: 'Maximum number of concurrent calls; 0 means no limit.',
  daily_budget: 'Maximum number of quota units per day (UTC); 0 means no limit.',
  monthly_budget: 'Maximum number of quota units per month (UTC); 0 means no limit.',
} as const

const shown = (meaning: string) => z.int().check(z.describe(meaning))
const written = (meaning: string, most: number) => z.optional(z.int().check(z.gte(0), z.lte(most), z.describe(meaning)))

/** The highest number of calls or tokens that a limit can have. */
const mostCounted = 1e12

/** Limits, and the amounts spent in the current day and month, as responses contain them. */
export const limitsShown = {
  rpm_limit: shown(meanings.rpm_limit),
  tpm_limit: shown(meanings.tpm_limit),
  concurrency_limit: shown(meanings.concurrency_limit),
  daily_budget: shown(meanings.daily_budget),
  monthly_budget: shown(meanings.monthly_budget),
  spent_today: shown('Quota units charged since 00:00 UTC.'),
  spent_month: shown('Quota units charged since the first of the month (UTC).'),
}

/** Limits as requests may send them; an omitted limit stays unchanged. */
export const limitsWritten = {
  rpm_limit: written(meanings.rpm_limit, mostCounted),
  tpm_limit: written(meanings.tpm_limit, mostCounted),
  concurrency_limit: written(meanings.concurrency_limit, mostCounted),
  daily_budget: written(meanings.daily_budget, maxQuota),
  monthly_budget: written(meanings.monthly_budget, maxQuota),
}
