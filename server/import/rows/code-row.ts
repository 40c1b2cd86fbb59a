import { redemptionStatus } from '../../../contract/statuses.ts'
import { integer, isDeleted, seconds, trimmed } from '../fields.ts'
import type { Findings } from '../findings.ts'
import type { SourceRow } from '../sources/source-database.ts'
import { amount } from './user-row.ts'

/** A redemption code as the source has it, in our terms. */
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
}

/** Reads a code; undefined if it was deleted or has no text. */
export function readCode(row: SourceRow, nowSeconds: number, findings: Findings): CodeDraft | undefined {
  const id = integer(row, 'id')
  const key = trimmed(row, 'key')
  if (isDeleted(row)) return undefined
  if (key === '') {
    findings.add('codes', 'The code is empty and is skipped.', `code ${id}`)
    return undefined
  }
  const stored = integer(row, 'status', redemptionStatus.unused)
  let status = Object.values<number>(redemptionStatus).includes(stored) ? stored : redemptionStatus.disabled
  const expires = seconds(row, 'expired_time')
  if (expires > 0 && status === redemptionStatus.unused) {
    if (expires < nowSeconds) {
      status = redemptionStatus.disabled
      findings.add('codes', 'The code has expired. It is disabled.', `code ${id}`)
    } else
      findings.add(
        'codes',
        'The code has an expiry in the source. Here, it stays valid until it is disabled.',
        `code ${id}`,
      )
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
  }
}
