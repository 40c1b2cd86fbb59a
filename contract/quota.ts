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

/** A decimal number as an integer and its number of decimals, e.g. 12.5 → 125 and 1. */
interface Decimal {
  digits: bigint
  decimals: number
}

/** Parses a plain decimal number, with or without a sign, a dollar sign and grouped thousands. */
function parseDecimal(text: string): Decimal | undefined {
  const [, sign = '', whole = '', part = ''] =
    /^([-−]?)\$?(\d{1,3}(?:,\d{3})+|\d*)(?:\.(\d*))?$/.exec(text.replaceAll(/\s/g, '')) ?? []
  const digits = `${whole.replaceAll(',', '')}${part}`
  if (digits === '' || digits.length > longestNumber) return undefined
  return { digits: BigInt(digits) * (sign === '' ? 1n : -1n), decimals: part.length }
}

/** A number with more digits than this is not a plausible amount of money. */
const longestNumber = 40
/** Enough decimals for every value that the option QuotaPerUnit accepts. */
const perUnitDecimals = 10

function perUnitAsDecimal(quotaPerUnit: number): Decimal {
  return parseDecimal(quotaPerUnit.toFixed(perUnitDecimals)) ?? { digits: BigInt(defaultQuotaPerUnit), decimals: 0 }
}

function roundedDivision(dividend: bigint, divisor: bigint): bigint {
  const half = divisor / 2n
  return dividend < 0n ? -((-dividend + half) / divisor) : (dividend + half) / divisor
}

/**
 * An amount of currency, as typed → quota units, without the rounding errors of binary fractions. An amount between two
 * units is rounded, but never to zero, because zero often means "no limit". Undefined for text that is not a number.
 */
export function currencyToQuota(typed: string, quotaPerUnit: number): number | undefined {
  const amount = parseDecimal(typed)
  if (!amount) return undefined
  const perUnit = perUnitAsDecimal(quotaPerUnit)
  const units = roundedDivision(amount.digits * perUnit.digits, 10n ** BigInt(amount.decimals + perUnit.decimals))
  if (units === 0n && amount.digits !== 0n) return amount.digits < 0n ? -1 : 1
  return Number(units)
}

/**
 * Quota units → the shortest amount with at least two decimals that `currencyToQuota` converts back to the same units.
 */
export function quotaToAmount(quota: number, quotaPerUnit: number): string {
  if (!Number.isInteger(quota)) return ''
  const perUnit = perUnitAsDecimal(quotaPerUnit)
  for (let decimals = 2; ; decimals++) {
    const scaled = BigInt(quota) * 10n ** BigInt(decimals + perUnit.decimals)
    const text = decimalText({ digits: roundedDivision(scaled, perUnit.digits), decimals })
    if (decimals >= 2 * perUnitDecimals || currencyToQuota(text, quotaPerUnit) === quota) return text
  }
}

function decimalText({ digits, decimals }: Decimal): string {
  const text = String(digits < 0n ? -digits : digits).padStart(decimals + 1, '0')
  return `${digits < 0n ? '-' : ''}${text.slice(0, -decimals)}.${text.slice(-decimals)}`
}
