import { formatCount, formatQuota, showsCurrency } from '../lib/format.ts'

/** Enough decimals for every amount that is charged. */
const allDecimals = 6

const numberOf = (text: string) => Number(text.replaceAll(/[$,]/g, ''))

/** An amount of quota in a list. Its title is the exact amount, if the text is rounded. */
export function Amount({ quota }: { quota: number }) {
  const shown = formatQuota(quota)
  const exact = showsCurrency() ? formatQuota(quota, allDecimals) : formatCount(quota)
  return <span title={numberOf(exact) === numberOf(shown) ? undefined : exact}>{shown}</span>
}
