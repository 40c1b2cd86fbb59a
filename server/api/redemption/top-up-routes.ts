import { api } from '../../../contract/api/index.ts'
import { logType } from '../../../contract/log-types.ts'
import { give, redeem, TopUpRefused } from '../../billing/redeem.ts'
import { ApiFailure } from '../../http/api-failure.ts'
import { type ApiRouter, serve } from '../../http/serve-endpoint.ts'
import { epochSeconds } from '../../lib/clock.ts'
import { userById } from '../../store/accounts/users.ts'
import { recordAudit } from '../../store/installation/audit.ts'
import { addAccountLog } from '../../store/logs/logs.ts'
import type { Trx } from '../../store/store.ts'
import { auditEvent } from '../audit-event.ts'
import type { Announce, ApiDeps } from '../deps.ts'
import { quotaText } from '../quota-text.ts'

type TopUpDeps = Pick<ApiDeps, 'store' | 'clock' | 'settings'> & { announce: Announce }

const refusals: Readonly<Record<TopUpRefused['reason'], string>> = {
  'unknown-code': 'This redemption code is not valid.',
  'used-code': 'This redemption code has already been used or is disabled.',
  'expired-code': 'This redemption code has expired.',
  'no-room': 'The balance would become too large.',
}

/** The two ways to get quota: redeeming a code, and a gift from an admin. */
export function mountTopUps(router: ApiRouter, { store, clock, settings, announce }: TopUpDeps): void {
  serve(router, api.redemption.redeem, async (call) => {
    const { person, body } = call
    if (body.key === '') throw new ApiFailure('please enter the top-up code!')
    const now = epochSeconds(clock)
    const { quota } = await refusing(() =>
      store.write(async (trx) => {
        const taken = await redeem(trx, { key: body.key, userId: person.id, now })
        const content = `Topped up ${quotaText(settings.current(), taken.quota)} by redemption code`
        await noteTopUp(trx, person, now, taken.quota, content)
        const detail = `redemption ${taken.id}: ${taken.quota}`
        await recordAudit(trx, auditEvent(clock, call, 'redemption.redeem', `user ${person.id}`, detail))
        return taken
      }),
    )
    await announce({ topic: 'user', id: person.id })
    return quota
  })

  serve(router, api.redemption.topUp, async (call) => {
    const { user_id, quota, remark } = call.body
    const now = epochSeconds(clock)
    await refusing(() =>
      store.write(async (trx) => {
        await call.admitAgain(trx, user_id)
        const user = await userById(trx, user_id)
        if (!user) throw new ApiFailure('User not found.')
        await give(trx, user_id, quota)
        const content = remark.trim() || `Topped up ${quotaText(settings.current(), quota)} by an admin`
        await noteTopUp(trx, user, now, quota, content)
        await recordAudit(trx, auditEvent(clock, call, 'user.top-up', `user ${user_id}`, `+${quota}`))
      }),
    )
    await announce({ topic: 'user', id: user_id })
  })
}

function noteTopUp(
  trx: Trx,
  user: { id: number; username: string },
  now: number,
  quota: number,
  content: string,
): Promise<void> {
  return addAccountLog(trx, {
    user_id: user.id,
    username: user.username,
    created_at: now,
    type: logType.topUp,
    content,
    quota,
  })
}

async function refusing<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof TopUpRefused) throw new ApiFailure(refusals[error.reason])
    throw error
  }
}
