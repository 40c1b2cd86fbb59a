/** Quota units per currency unit, unless the option QuotaPerUnit sets another number. */
export const defaultQuotaPerUnit = 500_000

/**
 * Quota units → currency text with the thousands grouped, e.g. 250000 at 500000 per unit with 2 decimals → "$0.50". An
 * amount too small to show has no sign.
 */
export function quotaToCurrency(quota: number, quotaPerUnit: number, decimals = 2): string {
  return currencyText('$', quota / quotaPerUnit, decimals)
}

/** An amount of a currency with the thousands grouped; an amount that is rounded to zero has no sign. */
export function currencyText(sign: string, amount: number, decimals = 2): string {
  const digits = Math.abs(amount).toFixed(decimals)
  const [whole = '', rest] = digits.split('.')
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ',')
  const isNegative = amount < 0 && Number(digits) !== 0
  return `${isNegative ? '-' : ''}${sign}${grouped}${rest === undefined ? '' : `.${rest}`}`
}
