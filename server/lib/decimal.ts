/** Exact decimals for amounts of money: conversion from text to integers and back. */

const decimalPattern = /^([+-]?)(\d+)(?:\.(\d*))?(?:[eE]([+-]?\d+))?$/

/**
 * The value of a decimal text, multiplied by 10^`places`. If `rounded` is true, the value was rounded half away from
 * zero. Otherwise it is exact.
 */
export interface ScaledDecimal {
  readonly value: bigint
  readonly rounded: boolean
}

/**
 * Converts a decimal text such as "0.075", "2.5e-05" or "15" to an integer count of 10^-`places`. Undefined if the text
 * is not a plain decimal or its exponent is beyond ±30.
 */
export function scaleDecimal(text: string, places: number): ScaledDecimal | undefined {
  const match = decimalPattern.exec(text.trim())
  if (!match) return undefined
  const [, sign = '', whole = '', fraction = '', exponentText = '0'] = match
  const exponent = Number(exponentText)
  if (Math.abs(exponent) > 30) return undefined
  const digits = BigInt(whole + fraction)
  const shift = exponent - fraction.length + places
  const negative = sign === '-'
  if (shift >= 0) {
    const value = digits * 10n ** BigInt(shift)
    return { value: negative ? -value : value, rounded: false }
  }
  const divisor = 10n ** BigInt(-shift)
  const value = (digits + divisor / 2n) / divisor
  return { value: negative ? -value : value, rounded: digits % divisor !== 0n }
}

/** Converts an integer count of 10^-`places` to the shortest decimal text: (75000n, 6) → "0.075". */
export function decimalText(value: bigint, places: number): string {
  const digits = (value < 0n ? -value : value).toString().padStart(places + 1, '0')
  const whole = digits.slice(0, digits.length - places)
  const fraction = digits.slice(digits.length - places).replace(/0+$/, '')
  return `${value < 0n ? '-' : ''}${whole}${fraction === '' ? '' : `.${fraction}`}`
}

/** Returns `value` × `numerator` ÷ `denominator`, rounded half up. The values must not be negative. */
export function scaleRational(value: bigint, numerator: bigint, denominator: bigint): bigint {
  return (2n * value * numerator + denominator) / (2n * denominator)
}
