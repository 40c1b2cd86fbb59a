import { api } from '../../../contract/api/index.ts'
import type { UserToken } from '../../../contract/api/user-access.ts'
import { tokenStatus, tokenStatusAt } from '../../../contract/statuses.ts'
import { ApiFailure } from '../../http/api-failure.ts'
import type { Person } from '../../http/app-env.ts'
import { listed, pageOf } from '../../http/list-page.ts'
import { type ApiRouter, type PersonCall, serve } from '../../http/serve-endpoint.ts'
import { epochSeconds } from '../../lib/clock.ts'
import { endOtherSessionsOf, endSessionOf, listSessions } from '../../store/accounts/sessions.ts'
import { listTokens, lockToken, type TokenRow, updateToken } from '../../store/accounts/tokens.ts'
import { lockUser, type UserRow, userById } from '../../store/accounts/users.ts'
import { recordAudit } from '../../store/installation/audit.ts'
import type { Trx } from '../../store/store.ts'
import { auditEvent, describeChange, describeFields } from '../audit-event.ts'
import type { Announce, ApiDeps } from '../deps.ts'
import { refuseToEnable } from '../refuse-to-enable.ts'
import { refuseUnlessAbove } from './manage-user.ts'

type AccessDeps = Pick<ApiDeps, 'store' | 'clock'> & { announce: Announce }

/**
 * Endpoints for the tokens (without their keys) and the sessions of other users. Admins can manage only accounts with
 * lower roles, and their own.
 */
export function mountUserAccess(router: ApiRouter, deps: AccessDeps): void {
  mountUserTokens(router, deps)
  mountUserSessions(router, deps)
}

function mountUserTokens(router: ApiRouter, { store, clock, announce }: AccessDeps): void {
  serve(router, api.user.tokens, async ({ params, query, person, context }) => {
    await refuseUnlessReachable(store.read, params.id, person)
    const now = epochSeconds(clock)
    const found = await listTokens(store.read, params.id, pageOf(query), { status: 0, now })
    return listed(context, found).map((row) => userTokenView(row, now))
  })

  serve(router, api.user.setTokenStatus, async (call) => {
    const { id, token: tokenId } = call.params
    const { status } = call.body
    if (status !== tokenStatus.enabled && status !== tokenStatus.disabled) {
      throw new ApiFailure('status must be 1 or 2.')
    }
    const row = await store.write(async (trx) => {
      const { username } = await lockReachable(trx, call, id)
      const token = await lockToken(trx, id, tokenId)
      if (!token) throw new ApiFailure('Token not found.')
      if (status === tokenStatus.enabled) refuseToEnable(token, epochSeconds(clock))
      await updateToken(trx, token.id, { status })
      const change = describeChange(token, { status }, ['status'])
      const detail = [change, `owner=${JSON.stringify(username)}`].filter((part) => part !== '').join(' ')
      await recordAudit(trx, auditEvent(clock, call, 'token.update', `token ${token.id}`, detail))
      return { ...token, status }
    })
    await announce({ topic: 'token', id: tokenId })
    return userTokenView(row, epochSeconds(clock))
  })
}

/** Copies only the listed fields, because a row of the table also contains the token's keys. */
function userTokenView(row: TokenRow, now: number): UserToken {
  const { id, name, project, group, created_time, accessed_time, expired_time, used_quota, remain_quota } = row
  return {
    ...{ id, name, project, group, created_time, accessed_time, expired_time, used_quota, remain_quota },
    status: tokenStatusAt(row, now),
    unlimited_quota: Boolean(row.unlimited_quota),
  }
}

function mountUserSessions(router: ApiRouter, { store, clock }: AccessDeps): void {
  const { sessions } = router

  serve(router, api.user.sessions, async ({ params, query, person, context }) => {
    await refuseUnlessReachable(store.read, params.id, person)
    const page = pageOf(query)
    const sort = page.sort === 'id' ? 'last_seen_time' : page.sort
    const found = await listSessions(store.read, params.id, epochSeconds(clock), { ...page, sort })
    const own = sessions.hashOf(context)
    return listed(context, found).map(({ id_hash, handle, ...row }) => ({
      ...row,
      id: handle,
      current: id_hash === own,
    }))
  })

  serve(router, api.user.endSession, async (call) => {
    const { id, session } = call.params
    await store.write(async (trx) => {
      const { username } = await lockReachable(trx, call, id)
      const ended = await endSessionOf(trx, id, session)
      if (!ended) throw new ApiFailure('Session not found.')
      const fields = { session, created_time: ended.created_time, client: ended.client }
      const detail = `${username}, ${describeFields(fields, Object.keys(fields))}`
      await recordAudit(trx, auditEvent(clock, call, 'user.end-session', `user ${id}`, detail))
    })
  })

  serve(router, api.user.endSessions, async (call) => {
    const { id } = call.params
    return store.write(async (trx) => {
      const { username } = await lockReachable(trx, call, id)
      const own = id === call.person.id ? sessions.hashOf(call.context) : undefined
      const ended = await endOtherSessionsOf(trx, id, own)
      await recordAudit(
        trx,
        auditEvent(clock, call, 'user.end-sessions', `user ${id}`, `${username}, ${ended} sessions`),
      )
      return ended
    })
  })
}

async function refuseUnlessReachable(db: Parameters<typeof userById>[0], id: number, person: Person): Promise<void> {
  const row = await userById(db, id)
  if (!row) throw new ApiFailure('User not found.')
  if (row.id !== person.id) refuseUnlessAbove(person, row)
}

/** Locks the account whose token or sessions change. Throws if the caller may no longer manage the account. */
async function lockReachable(
  trx: Trx,
  call: Pick<PersonCall<typeof api.user.endSessions>, 'admitAgain'>,
  id: number,
): Promise<UserRow> {
  const person = await call.admitAgain(trx, id)
  const target = await lockUser(trx, { id })
  if (!target) throw new ApiFailure('User not found.')
  if (target.id !== person.id) refuseUnlessAbove(person, target)
  return target
}
