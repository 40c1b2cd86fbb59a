import * as z from 'zod/mini'
import { maxQuota } from './fields.ts'

const meanings = {
  rpm_limit: 'Calls let through in any 60 seconds; 0 = no limit.',
  tpm_limit: 'Tokens in any 60 seconds, prompt and answer together; 0 = no limit.',
  concurrency_limit: 'Calls open at once; 0 = no limit.',
  daily_budget: 'Quota units that a day (UTC) may cost; 0 = no limit.',
  monthly_budget: 'Quota units that a month (UTC) may cost; 0 = no limit.',
} as const

const shown = (meaning: string) => z.int().check(z.describe(meaning))
const written = (meaning: string, most: number) => z.optional(z.int().check(z.gte(0), z.lte(most), z.describe(meaning)))

/** The highest number of calls or tokens that a limit can be set to. */
const mostCounted = 1e12

/** Limits, and the amounts spent in the current day and month, as responses contain them. */
export const limitsShown = {
  rpm_limit: shown(meanings.rpm_limit),
  tpm_limit: shown(meanings.tpm_limit),
  concurrency_limit: shown(meanings.concurrency_limit),
  daily_budget: shown(meanings.daily_budget),
  monthly_budget: shown(meanings.monthly_budget),
  spent_today: shown('Quota units charged since 00:00 UTC.'),
  spent_month: shown('Quota units charged since the first of the month, UTC.'),
}

/** Limits as requests may send them; an omitted limit stays unchanged. */
export const limitsWritten = {
  rpm_limit: written(meanings.rpm_limit, mostCounted),
  tpm_limit: written(meanings.tpm_limit, mostCounted),
  concurrency_limit: written(meanings.concurrency_limit, mostCounted),
  daily_budget: written(meanings.daily_budget, maxQuota),
  monthly_budget: written(meanings.monthly_budget, maxQuota),
}
