import { formatQuota } from '../lib/format.ts'

/** Enough decimals for every amount that is charged. */
const allDecimals = 6

/** An amount of quota in a list. Its title has all decimals, if there are more. */
export function Amount({ quota }: { quota: number }) {
  const [shown, exact] = [formatQuota(quota), formatQuota(quota, allDecimals)]
  return (
    <span title={Number(exact.replace(/[$,]/g, '')) === Number(shown.replace(/[$,]/g, '')) ? undefined : exact}>
      {shown}
    </span>
  )
}
