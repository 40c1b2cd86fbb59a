import { ApiFailure } from '../../http/api-failure.ts'
import { type Clock, epochSeconds } from '../../lib/clock.ts'

/** Refuses an expiry in the past, because nobody could ever redeem such a code. 0 means never. */
export function checkExpiry(clock: Clock, expiredTime: number): void {
  if (expiredTime !== 0 && expiredTime < epochSeconds(clock)) throw new ApiFailure('The expiry must be in the future.')
}
