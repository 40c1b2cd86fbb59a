import { maxQuota } from '../../contract/api/fields.ts'
import { redemptionExpired } from '../../contract/statuses.ts'
import { statusOfKey, takeRedemption } from '../store/accounts/redemptions.ts'
import { giveUserQuota } from '../store/accounts/user-changes.ts'
import type { Trx } from '../store/store.ts'

/**
 * The reason why a redemption code or a gift of quota was refused. It is thrown inside the transaction, so that
 * everything is rolled back.
 */
export class TopUpRefused extends Error {
  readonly reason: 'unknown-code' | 'used-code' | 'expired-code' | 'no-room'
  constructor(reason: TopUpRefused['reason']) {
    super(reason)
    this.reason = reason
  }
}

/**
 * Adds the quota of a redemption code to a user's balance. A code gives quota only once, because a conditional
 * statement first marks it as used, and only the caller whose statement succeeds continues. If the account cannot
 * accept the quota, the code stays unused.
 */
export async function redeem(
  trx: Trx,
  redemption: { key: string; userId: number; now: number },
): Promise<{ id: number; quota: number }> {
  const { key, userId, now } = redemption
  const taken = await takeRedemption(trx, key, { userId, now })
  if (!taken) throw new TopUpRefused(refusalOf(await statusOfKey(trx, key, now)))
  await give(trx, userId, taken.quota)
  return taken
}

function refusalOf(status: number | undefined): TopUpRefused['reason'] {
  if (status === undefined) return 'unknown-code'
  return status === redemptionExpired ? 'expired-code' : 'used-code'
}

/**
 * Gives quota to an account. Throws TopUpRefused if the account does not exist or is deleted, or if its balance would
 * become too large.
 */
export async function give(trx: Trx, userId: number, quota: number): Promise<void> {
  if (!(await giveUserQuota(trx, userId, quota, maxQuota))) throw new TopUpRefused('no-room')
}
