import { redemptionStatus } from '../../../contract/statuses.ts'
import { hasUnreadableTime, integer, isDeleted, seconds, text, trimmed } from '../fields.ts'
import type { Findings } from '../findings.ts'
import type { SourceRow } from '../sources/source-database.ts'
import { amount, reportZeroDate, storedStatus } from './user-row.ts'

/** A redemption code of the source in Tollgate's terms. */
export interface CodeDraft {
  id: number
  userId: number
  key: string
  status: number
  name: string
  quota: number
  createdTime: number
  redeemedTime: number
  redeemedBy: number
  /** The last second in which the code can be redeemed; 0 = it never expires. */
  expiredTime: number
}

/** Reads a code; undefined if it was deleted or has no text. */
export function readCode(row: SourceRow, findings: Findings): CodeDraft | undefined {
  const id = integer(row, 'id')
  const key = trimmed(row, 'key')
  reportZeroDate(row, 'codes', `code ${id}`, findings)
  if (isDeleted(row)) return undefined
  if (key === '') {
    findings.add('codes', 'The code is empty and is skipped.', `code ${id}`)
    return undefined
  }
  const kinds = { part: 'codes' as const, new: redemptionStatus.unused, disabled: redemptionStatus.disabled }
  const stored = storedStatus(row, kinds, `code ${id}`, findings)
  let status = Object.values<number>(redemptionStatus).includes(stored) ? stored : redemptionStatus.disabled
  if (hasUnreadableTime(row, 'expired_time') && status === redemptionStatus.unused) {
    findings.add('codes', 'The expiry cannot be read. The row is disabled.', `code ${id}: ${text(row, 'expired_time')}`)
    status = redemptionStatus.disabled
  }
  return {
    id,
    userId: integer(row, 'user_id'),
    key,
    status,
    name: trimmed(row, 'name'),
    quota: amount(row, 'quota', `code ${id}`, findings),
    createdTime: seconds(row, 'created_time'),
    redeemedTime: seconds(row, 'redeemed_time'),
    redeemedBy: integer(row, 'used_user_id'),
    expiredTime: seconds(row, 'expired_time'),
  }
}
