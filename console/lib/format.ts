import { defaultQuotaPerUnit, quotaToCurrency } from '../../contract/quota.ts'
import { serverStatus, useServerStatus } from './status.ts'
import { languageTag } from './text.ts'

const two = (value: number) => String(value).padStart(2, '0')

/** Epoch seconds → 'YYYY-MM-DD HH:MM:SS' in local time. */
export function formatTime(seconds: number): string {
  const at = new Date(seconds * 1000)
  const day = `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`
  return `${day} ${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`
}

const steps: readonly (readonly [Intl.RelativeTimeFormatUnit, number])[] = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
  ['second', 1],
]

/** Epoch seconds → 'in 3 days', '2 hours ago'. */
export function formatRelative(seconds: number, nowMs: number = Date.now()): string {
  const distance = seconds - nowMs / 1000
  const [unit, size] = steps.find(([, length]) => Math.abs(distance) >= length) ?? (['second', 1] as const)
  return new Intl.RelativeTimeFormat(languageTag(), { numeric: 'auto' }).format(Math.trunc(distance / size), unit)
}

/** Whole numbers with the language's separators. */
export function formatCount(value: number): string {
  return new Intl.NumberFormat(languageTag()).format(value)
}

/** A fraction as a percentage, in the language's format. With `exceptZero`, positive values get a plus sign. */
export function formatPercent(share: number, decimals = 1, signDisplay: 'auto' | 'exceptZero' = 'auto'): string {
  const digits = { minimumFractionDigits: decimals, maximumFractionDigits: decimals }
  return new Intl.NumberFormat(languageTag(), { style: 'percent', signDisplay, ...digits }).format(share)
}

/** Abbreviates numbers from 10 000 on: 10.0k, 1.0M, 1.0B. Smaller numbers are not abbreviated. */
export function formatNumber(value: number): string {
  const size = Math.abs(value)
  if (size >= 1e9) return `${(value / 1e9).toFixed(1)}B`
  if (size >= 1e6) return `${(value / 1e6).toFixed(1)}M`
  if (size >= 1e4) return `${(value / 1e3).toFixed(1)}k`
  return String(value)
}

/** Quota units per dollar. Returns the default until the server has reported its value. */
export function quotaPerUnit(): number {
  const known = Number(serverStatus().quota_per_unit)
  return known > 0 ? known : defaultQuotaPerUnit
}

/** Whether quota is shown as dollars. */
export function showsCurrency(): boolean {
  return serverStatus().display_in_currency !== false
}

/** Enough decimals to show the price of even a cheap call. */
const callDecimals = 6
/** Enough decimals for most amounts below a cent. */
const shortDecimals = 4

/** Formats quota according to the server's settings: as dollars, or as an abbreviated number. */
export function formatQuota(quota: number, decimals = 2): string {
  if (!showsCurrency()) return formatNumber(quota)
  // A tiny amount must not look like zero.
  for (const digits of [decimals, shortDecimals, callDecimals]) {
    const shown = quotaToCurrency(quota, quotaPerUnit(), digits)
    if (digits >= decimals && (quota === 0 || /[1-9]/.test(shown))) return shown
  }
  return quotaToCurrency(quota, quotaPerUnit(), decimals)
}

/** The number of decimals needed to distinguish amounts of this size. Small amounts need more. */
export function quotaDecimals(largest: number): number {
  return largest < quotaPerUnit() ? 4 : 2
}

/**
 * Formats a sum like `formatQuota`. A sum below a cent gets as many decimals as the price of a call, so that it does
 * not look like zero.
 */
export function formatSum(quota: number): string {
  return formatQuota(quota, Math.abs(quota) < quotaPerUnit() / 100 && quota !== 0 ? callDecimals : 2)
}

/** `formatQuota` for components. A component that uses it renders again when the server's settings change. */
export function useFormatQuota(): typeof formatQuota {
  useServerStatus()
  return formatQuota
}

/** `formatSum` for components. A component that uses it renders again when the server's settings change. */
export function useFormatSum(): typeof formatSum {
  useServerStatus()
  return formatSum
}

/** Truncates text to `max` characters. Truncated text ends in '...', which counts towards `max`. */
export function cut(text: string, max: number): string {
  const letters = [...text]
  return letters.length > max ? `${letters.slice(0, max - 3).join('')}...` : text
}
