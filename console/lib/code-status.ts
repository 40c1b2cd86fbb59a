import type { Redemption } from '../../contract/api/redemption.ts'
import { redemptionExpired, redemptionStatus } from '../../contract/statuses.ts'

/** The status that applies if somebody redeems the code now. */
export function statusNow({ status, expired_time }: Pick<Redemption, 'status' | 'expired_time'>): number {
  const isOver = expired_time > 0 && expired_time < Math.floor(Date.now() / 1000)
  return isOver && status === redemptionStatus.unused ? redemptionExpired : status
}
