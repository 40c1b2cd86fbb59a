import { budgetError, limitError } from '../../billing/limits.ts'
import { GatewayError } from '../../errors.ts'
import { epochSeconds } from '../../lib/clock.ts'
import { patternOf } from '../../lib/model-pattern.ts'
import { utcPeriods } from '../../lib/utc.ts'
import { callerById } from '../../store/accounts/callers.ts'
import { openCallsOf, spendingOf } from '../../store/accounts/spending.ts'
import { channelsInUse } from '../../store/ledger/caps-in-use.ts'
import { currentMinutes } from '../../store/ledger/limits.ts'
import type { LimitOwner } from '../../store/schema/ledger-types.ts'
import type { Store } from '../../store/store.ts'
import { callerOfRow } from '../admission/authenticate.ts'
import { type Caller, tokenExhausted } from '../call/caller.ts'
import type { RelayDeps } from '../call/deps.ts'

/** The facts that a dry run (the report about a request that is not made) needs from the database, as they are now. */
export interface Circumstances {
  /** The limit that a full channel has reached; undefined = the channel seems to have room for another request. */
  fullLimit(channelId: number, upstreamModel: string): string | undefined
  /** The caller whose token would be used; undefined = a caller without restrictions. */
  caller: Caller | undefined
  /** The error with which the token's limits or quota would refuse a request that needs this many tokens and units. */
  refusal(tokens: number, leastUnits: number): GatewayError | undefined
}

/** Reads the circumstances. `tokenId` 0 means no token. Throws GatewayError for a token that may not be used. */
export async function circumstancesOf(deps: RelayDeps, store: Store, tokenId: number): Promise<Circumstances> {
  const fullLimit = await fullLimits(store, deps.clock.nowMs())
  if (tokenId === 0) return { fullLimit, caller: undefined, refusal: () => undefined }
  const row = await callerById(store.read, tokenId)
  if (!row) throw new GatewayError('invalid_token', 'this token does not exist')
  const { settings, routing, clock } = deps
  const caller = callerOfRow({ settings, routing, nowMs: () => clock.nowMs(), expired: () => undefined }, row)
  return { fullLimit, caller, refusal: await refusalsOf(store, caller, epochSeconds(clock)) }
}

async function fullLimits(store: Store, nowMs: number): Promise<Circumstances['fullLimit']> {
  const inUse = await channelsInUse(store, nowMs)
  const full = new Map(
    inUse.map(({ id, caps }) => [
      id,
      caps
        .filter(({ owner, used, allowed }) => owner === 'channel' && used >= allowed)
        .map((cap) => ({ ...cap, pattern: patternOf(cap.models) })),
    ]),
  )
  return (channelId, model) => {
    const cap = full.get(channelId)?.find(({ pattern }) => pattern === null || new RegExp(pattern).test(model))
    return cap && `${cap.used} / ${cap.allowed} ${cap.metric} (${cap.period})`
  }
}

/** Makes the same checks as the ledger, in the same order, but counts nothing. */
async function refusalsOf(store: Store, caller: Caller, now: number): Promise<Circumstances['refusal']> {
  const limits = { token: caller.limits?.token, user: caller.limits?.user, at: now }
  const [minutes, open, spending] = await Promise.all([
    currentMinutes(store, caller, limits),
    openCallsOf(store.read, caller),
    spendingOf(store.read, caller, utcPeriods(now)),
  ])
  const { dayEnd, monthEnd } = endsOf(now)
  return (tokens, least) => {
    for (const owner of ['token', 'user'] as const satisfies readonly LimitOwner[]) {
      const { rpm_limit = 0, tpm_limit = 0, concurrency_limit = 0 } = limits[owner] ?? {}
      const minute = minutes[owner]
      const reached = (limit: 'requests' | 'tokens' | 'concurrency', most: number, retryAfter = 1) =>
        limitError({ ok: false, reason: 'limit', owner, limit, most, retryAfter }, tokens)
      if (rpm_limit > 0 && minute && minute.calls >= rpm_limit) return reached('requests', rpm_limit, minute.callsReset)
      if (tpm_limit > 0 && minute && minute.tokens + tokens > tpm_limit)
        return reached('tokens', tpm_limit, minute.tokensReset)
      if (concurrency_limit > 0 && open[owner] >= concurrency_limit) return reached('concurrency', concurrency_limit)
    }
    if (!caller.unlimited && caller.remainQuota < least) return tokenExhausted(caller)
    if (spending.user.quota < least) return new GatewayError('insufficient_user_quota', 'user quota is not enough')
    for (const owner of ['token', 'user'] as const) {
      const { daily_budget = 0, monthly_budget = 0 } = limits[owner] ?? {}
      const { today, month, held } = spending[owner]
      if (daily_budget > 0 && today + held + least > daily_budget) return budgetError('daily', owner, dayEnd - now)
      if (monthly_budget > 0 && month + held + least > monthly_budget)
        return budgetError('monthly', owner, monthEnd - now)
    }
    return undefined
  }
}

/** When the current day and month end, in epoch seconds (UTC). */
function endsOf(now: number): { dayEnd: number; monthEnd: number } {
  const date = new Date(now * 1000)
  const monthEnd = Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1) / 1000
  return { dayEnd: utcPeriods(now).dayStart + 86_400, monthEnd }
}
