import { maxQuota } from '../../contract/api/fields.ts'
import { isRedemptionKey, takeRedemption } from '../store/accounts/redemptions.ts'
import { giveUserQuota } from '../store/accounts/user-changes.ts'
import type { Trx } from '../store/store.ts'

/** Why a code or a gift failed. Thrown inside the transaction, which undoes everything. */
export class TopUpRefused extends Error {
  readonly reason: 'unknown-code' | 'used-code' | 'no-room'
  constructor(reason: TopUpRefused['reason']) {
    super(reason)
    this.reason = reason
  }
}

/**
 * A redemption code becomes quota of the user, once. The code is taken first, by a conditional statement, and only the
 * caller that got it goes on. If the account cannot take the quota, the code stays unused.
 */
export async function redeem(
  trx: Trx,
  redemption: { key: string; userId: number; now: number },
): Promise<{ id: number; quota: number }> {
  const { key, userId, now } = redemption
  const taken = await takeRedemption(trx, key, { userId, now })
  if (!taken) throw new TopUpRefused((await isRedemptionKey(trx, key)) ? 'used-code' : 'unknown-code')
  await give(trx, userId, taken.quota)
  return taken
}

/** Gives quota to an account in use; refused if there is none or its balance would become too large. */
export async function give(trx: Trx, userId: number, quota: number): Promise<void> {
  if (!(await giveUserQuota(trx, userId, quota, maxQuota))) throw new TopUpRefused('no-room')
}
