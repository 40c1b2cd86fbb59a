import { mostQuota } from '../fields.ts'

/**
 * Dollars as quota units, rounded half up. LiteLLM stores dollars as floating-point numbers, and shows the shortest
 * decimal with the same value. That decimal is converted exactly.
 */
export function quotaOf(dollars: unknown, quotaPerUnit: number): number {
  const value = Number(dollars ?? 0)
  if (!Number.isFinite(value) || value === 0) return 0
  const [, sign = '', whole = '0', fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/.exec(String(value)) ?? []
  const scale = fraction.length - Number(exponent)
  const product = BigInt(whole + fraction) * BigInt(Math.round(quotaPerUnit))
  const units = scale <= 0 ? product * 10n ** BigInt(-scale) : rounded(product, 10n ** BigInt(scale))
  const most = BigInt(mostQuota)
  return Number(units > most ? most : units) * (sign === '-' ? -1 : 1) + 0
}

const rounded = (product: bigint, divisor: bigint) => (2n * product + divisor) / (2n * divisor)
