/** Quota units that make one currency unit unless the option QuotaPerUnit says otherwise. */
export const defaultQuotaPerUnit = 500_000

/** Quota units → currency text, e.g. 250000 at 500000 per unit with 2 decimals → "$0.50". */
export function quotaToCurrency(quota: number, quotaPerUnit: number, decimals = 2): string {
  const amount = quota / quotaPerUnit
  return `${amount < 0 ? '-' : ''}$${Math.abs(amount).toFixed(decimals)}`
}
