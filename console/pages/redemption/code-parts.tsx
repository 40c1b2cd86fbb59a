import type { Redemption } from '../../../contract/api/redemption.ts'
import { redemptionExpired, redemptionStatus } from '../../../contract/statuses.ts'
import { type DotColor, Status } from '../../components/ui/badge.tsx'
import { statusNow } from '../../lib/code-status.ts'
import { type Text, useText } from '../../lib/text.ts'

/** The display name of a code, with a substitute for an empty name. */
export function nameOf(code: Redemption, t: Text): string {
  return code.name || t('redemption.noName', { id: code.id })
}

/** The label of a status. */
export function statusText(status: number, t: Text): string {
  if (status === redemptionStatus.unused) return t('redemption.status.unused')
  if (status === redemptionStatus.disabled) return t('redemption.status.disabled')
  if (status === redemptionStatus.used) return t('redemption.status.used')
  if (status === redemptionExpired) return t('redemption.status.expired')
  return t('status.unknown')
}

const colors: Readonly<Record<number, DotColor>> = {
  [redemptionStatus.unused]: 'green',
  [redemptionStatus.disabled]: 'red',
  [redemptionStatus.used]: 'grey',
  [redemptionExpired]: 'yellow',
}

/** Shows whether a code can still be redeemed, as a dot and a word. */
export function CodeStatus({ code }: { code: Redemption }) {
  const t = useText()
  const status = statusNow(code)
  return <Status color={colors[status] ?? 'grey'}>{statusText(status, t)}</Status>
}
