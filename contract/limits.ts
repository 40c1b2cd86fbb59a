/** The limits on calls: requests and tokens per minute, concurrent calls, and quota per UTC day and month. */
export const limitFields = ['rpm_limit', 'tpm_limit', 'concurrency_limit', 'daily_budget', 'monthly_budget'] as const

export type LimitField = (typeof limitFields)[number]

/** The limits of a token, a user or a group; 0 = no limit. */
export type Limits = Readonly<Record<LimitField, number>>

/** The limits in a record. Undefined if it has none, so that calls without limits are recognized quickly. */
export function limitsOf(row: Readonly<Partial<Record<LimitField, number | null>>>): Limits | undefined {
  if (limitFields.every((field) => !row[field])) return undefined
  return {
    rpm_limit: row.rpm_limit ?? 0,
    tpm_limit: row.tpm_limit ?? 0,
    concurrency_limit: row.concurrency_limit ?? 0,
    daily_budget: row.daily_budget ?? 0,
    monthly_budget: row.monthly_budget ?? 0,
  }
}

/** Only the limits that a body contains. */
export function limitsSent(body: Readonly<Partial<Record<LimitField, number | undefined>>>) {
  const sent: Partial<Record<LimitField, number>> = {}
  for (const field of limitFields) {
    const limit = body[field]
    if (limit !== undefined) sent[field] = limit
  }
  return sent
}
