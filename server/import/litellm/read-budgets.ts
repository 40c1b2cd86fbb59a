import { integerOf, text } from '../fields.ts'
import type { SourceRow } from '../sources/source-database.ts'
import { quotaOf } from './money.ts'

/** The spending limit and the rate limits of a key or user, in Tollgate's terms. */
export interface Budget {
  /** The spending limit in dollars if its period is neither a day nor a month; undefined = no such limit. */
  most: number | undefined
  /** True if LiteLLM resets the spending limit after a period that Tollgate does not support, such as 7 days. */
  isOfOtherPeriod: boolean
  limits: {
    rpm_limit: number
    tpm_limit: number
    concurrency_limit: number
    daily_budget: number
    monthly_budget: number
  }
}

const daily: ReadonlySet<string> = new Set(['1d', '24h', '1440m', '86400s'])
const monthly: ReadonlySet<string> = new Set(['30d', '1mo', '31d', '28d'])
const largest = 1_000_000_000

/** The limits of a key, user or team. A limit that its row lacks is taken from the budget to which the row refers. */
export function budgetOf(row: SourceRow, budgets: ReadonlyMap<string, SourceRow>, quotaPerUnit: number): Budget {
  const shared = budgets.get(text(row, 'budget_id'))
  const field = (name: string) => row[name] ?? shared?.[name] ?? null
  const most = field('max_budget') === null ? undefined : Number(field('max_budget'))
  const duration = String(field('budget_duration') ?? '')
  const isDaily = most !== undefined && daily.has(duration)
  const isMonthly = most !== undefined && monthly.has(duration)
  const rate = (name: string) => Math.min(largest, Math.max(0, integerOf(field(name))))
  return {
    most: isDaily || isMonthly ? undefined : most,
    isOfOtherPeriod: most !== undefined && duration !== '' && !isDaily && !isMonthly,
    limits: {
      rpm_limit: rate('rpm_limit'),
      tpm_limit: rate('tpm_limit'),
      concurrency_limit: rate('max_parallel_requests'),
      // In LiteLLM, a budget of 0 allows no spending. In Tollgate, 0 means no limit, so a budget of 0 becomes 1 unit.
      daily_budget: isDaily ? Math.max(1, quotaOf(most, quotaPerUnit)) : 0,
      monthly_budget: isMonthly ? Math.max(1, quotaOf(most, quotaPerUnit)) : 0,
    },
  }
}

/** Columns of keys and users with limits and settings that have no counterpart in Tollgate. */
const withoutPlace = [
  ...['aliases', 'config', 'permissions', 'metadata', 'allowed_cache_controls', 'model_max_budget', 'allowed_routes'],
  ...['budget_limits', 'budget_fallbacks', 'object_permission_id', 'router_settings', 'policies', 'access_group_ids'],
  ...['organization_id', 'project_id', 'agent_id', 'tpd_limit', 'sso_user_id', 'rotation_interval', 'teams', 'team_id'],
]

/** The values of a row that have no counterpart, by column. */
export function valuesWithoutPlace(row: SourceRow): [name: string, value: unknown][] {
  return withoutPlace
    .map((name) => [name, row[name]] as [string, unknown])
    .filter(([, value]) => {
      if (value === null || value === undefined || value === '') return false
      return typeof value !== 'object' || Object.keys(value).length > 0
    })
}
