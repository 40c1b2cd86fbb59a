import { type OwnOverview, ownDays } from '../../../contract/api/overview.ts'
import { tokenStatus } from '../../../contract/statuses.ts'
import { listTokens, type TokenRow } from '../../store/accounts/tokens.ts'
import { userById } from '../../store/accounts/users.ts'
import { ownFailures } from '../../store/logs/refused-calls.ts'
import type { Db } from '../../store/store.ts'
import { usageInBuckets } from '../../store/usage/usage-query.ts'

const hourSeconds = 3600
const daySeconds = 86_400
const rateDays = 7
const shownTokens = 5

interface Ask {
  userId: number
  /** Minutes east of UTC. */
  utcOffset: number
  /** Epoch seconds. */
  now: number
}

/** Returns the overview of a user's own account. */
export async function ownOverview(db: Db, { userId, utcOffset, now }: Ask): Promise<OwnOverview> {
  const shift = utcOffset * 60
  const today = Math.floor((now + shift) / daySeconds)
  const starts = Array.from({ length: ownDays }, (_, index) => (today - ownDays + 1 + index) * daySeconds - shift)
  // An hour belongs to the day in which it begins.
  const range = { from: Math.ceil((starts[0] ?? now) / hourSeconds), to: Math.floor(now / hourSeconds) + 1 }
  const bucket = { minutes: daySeconds / 60, shift: utcOffset + daySeconds / 60 }
  const filter = { userId }
  const perDay = async (metric: 'quota' | 'requests') => {
    const rows = await usageInBuckets(db, { filter, range, group: undefined, metric, only: [], bucket })
    const sums = new Map(rows.map((row) => [row.bucket - 1, row.over]))
    return starts.map((_, index) => sums.get(today - ownDays + 1 + index) ?? 0)
  }
  const page = { offset: 0, limit: shownTokens, sort: 'accessed_time', descending: true } as const
  const [user, quota, requests, errors, tokens] = await Promise.all([
    userById(db, userId),
    perDay('quota'),
    perDay('requests'),
    ownFailures(db, userId, now - daySeconds),
    listTokens(db, userId, page),
  ])
  const balance = user?.quota ?? 0
  const rate = quota.slice(-rateDays).reduce((sum, day) => sum + day, 0) / rateDays
  return {
    balance,
    used: user?.used_quota ?? 0,
    starts,
    quota,
    requests,
    days_left: rate === 0 ? null : Math.max(0, balance / rate),
    errors,
    tokens: tokens.rows.map((token) => tokenView(token, now)),
    token_count: tokens.total,
  }
}

function tokenView(token: TokenRow, now: number): OwnOverview['tokens'][number] {
  const { id, name, remain_quota, used_quota, accessed_time, expired_time } = token
  const unlimited_quota = Boolean(token.unlimited_quota)
  return {
    id,
    name,
    status: statusNow(token, now),
    remain_quota,
    unlimited_quota,
    used_quota,
    accessed_time,
    expired_time,
  }
}

/**
 * The current status of a token. The stored status changes only when the token is used, so an enabled token may have
 * expired since then.
 */
function statusNow({ status, expired_time, remain_quota, unlimited_quota }: TokenRow, now: number): number {
  if (status !== tokenStatus.enabled) return status
  if (expired_time !== -1 && expired_time <= now) return tokenStatus.expired
  return !unlimited_quota && remain_quota <= 0 ? tokenStatus.exhausted : status
}
