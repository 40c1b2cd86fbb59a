import { quotaPerUnit, showsCurrency } from './format.ts'
import { languageTag } from './text.ts'

/** A number of tokens in the makers' notation: 128K, 1M, 1.05M. */
export function tokensText(tokens: number): string {
  if (tokens >= 1e6) return `${Number((tokens / 1e6).toFixed(2))}M`
  return tokens >= 1000 ? `${Math.round(tokens / 1000)}K` : String(tokens)
}

const smallest = 1e-6

/**
 * A price in the server's quota format. All decimals are shown, because users compare prices. A dollar amount has at
 * least two decimals.
 */
export function priceText(quota: number): string {
  const currency = showsCurrency()
  const amount = currency ? quota / quotaPerUnit() : quota
  // A tiny price must not look like zero.
  const digits = amount > 0 && amount < smallest ? { maximumSignificantDigits: 2 } : { maximumFractionDigits: 6 }
  if (!currency) return new Intl.NumberFormat(languageTag(), digits).format(amount)
  const format = { ...digits, ...(amount >= smallest || amount === 0 ? { minimumFractionDigits: 2 } : {}) }
  return `$${new Intl.NumberFormat('en-US', { useGrouping: false, ...format }).format(amount)}`
}

/**
 * A price with enough decimals for comparisons: two above a dollar, otherwise three significant digits. Quota units are
 * shown in full.
 */
export function shortPriceText(quota: number): string {
  const amount = quota / quotaPerUnit()
  if (!showsCurrency() || amount < smallest) return priceText(quota)
  const digits =
    amount >= 1
      ? { minimumFractionDigits: 2, maximumFractionDigits: 2 }
      : { minimumFractionDigits: 2, maximumFractionDigits: Math.max(2, 2 - Math.floor(Math.log10(amount))) }
  return `$${new Intl.NumberFormat('en-US', { useGrouping: false, ...digits }).format(amount)}`
}
