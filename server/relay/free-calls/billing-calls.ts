import type { Settings } from '../../settings/settings.ts'
import { quotaFigures } from '../../store/accounts/callers.ts'
import type { Db } from '../../store/store.ts'
import type { Caller } from '../call/caller.ts'

/** The limit shown for an unlimited token, in the displayed unit. one-api shows the same figure. */
const unlimitedAmount = 100_000_000

interface Figures {
  granted: number
  used: number
  /** When access ends, in epoch seconds; 0 = never. */
  accessUntil: number
}

async function figures(db: Db, caller: Caller, settings: Settings): Promise<Figures> {
  const { token, user } = await quotaFigures(db, caller.tokenId, caller.userId)
  const unit = settings.DisplayInCurrencyEnabled ? settings.QuotaPerUnit : 1
  if (!settings.DisplayTokenStatEnabled) {
    const used = (user?.used_quota ?? 0) / unit
    return { granted: (user?.quota ?? 0) / unit + used, used, accessUntil: 0 }
  }
  const used = (token?.used_quota ?? 0) / unit
  const granted = token?.unlimited_quota ? unlimitedAmount : (token?.remain_quota ?? 0) / unit + used
  return { granted, used, accessUntil: Math.max(0, token?.expired_time ?? 0) }
}

/**
 * The response of `…/dashboard/billing/subscription`. Its limit is all quota ever granted, so the limit minus the usage
 * is the remaining quota.
 */
export async function subscription(db: Db, caller: Caller, settings: Settings) {
  const { granted, accessUntil } = await figures(db, caller, settings)
  return {
    object: 'billing_subscription',
    has_payment_method: true,
    soft_limit_usd: granted,
    hard_limit_usd: granted,
    system_hard_limit_usd: granted,
    access_until: accessUntil,
  }
}

/** The response of `…/dashboard/billing/usage`, in hundredths of the displayed unit. */
export async function billingUsage(db: Db, caller: Caller, settings: Settings) {
  const { used } = await figures(db, caller, settings)
  return { object: 'list', total_usage: used * 100 }
}
