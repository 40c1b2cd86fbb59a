import { api } from '../../../contract/api/index.ts'
import { ApiFailure } from '../../http/api-failure.ts'
import type { Person } from '../../http/app-env.ts'
import { listed, pageOf } from '../../http/list-page.ts'
import { type ApiRouter, serve } from '../../http/serve-endpoint.ts'
import { epochSeconds } from '../../lib/clock.ts'
import { hashPassword } from '../../lib/secrets/password.ts'
import { deleteUser } from '../../store/accounts/user-changes.ts'
import { listUsers, lockUser, type UserRow, userById } from '../../store/accounts/users.ts'
import { recordAudit } from '../../store/installation/audit.ts'
import { auditEvent } from '../audit-event.ts'
import type { Announce } from '../deps.ts'
import { createAccount } from '../new-account.ts'
import { userView } from '../user-view.ts'
import { manageUser, refuseUnlessAbove, type UserDeps } from './manage-user.ts'
import { updateUserAsAdmin } from './update-user.ts'
import { mountUserAccess } from './user-access.ts'

/** Calls for admins about other people's accounts. */
export function mountUsers(router: ApiRouter, deps: UserDeps & { announce: Announce }): void {
  const { store, settings, clock, announce } = deps
  const view = (row: UserRow) => userView(row, epochSeconds(clock))

  serve(router, api.user.list, async ({ query, context }) =>
    listed(context, await listUsers(store.read, pageOf(query), query)).map(view),
  )

  serve(router, api.user.search, async ({ query, context }) =>
    listed(context, await listUsers(store.read, pageOf(query), query, query.keyword)).map(view),
  )

  serve(router, api.user.get, async ({ params, person }) => view(await readable(params.id, person)))

  serve(router, api.user.create, async (call) => {
    const { body, person } = call
    if (body.role !== undefined && body.role >= person.role) {
      throw new ApiFailure('You cannot create an account with the same role as yours or a higher one.')
    }
    const password = await hashPassword(body.password)
    const id = await store.write(async (trx) => {
      await call.admitAgain(trx)
      const { username } = body
      const display_name = body.display_name || username
      const created_time = epochSeconds(clock)
      const { id } = await createAccount(trx, settings.current(), { username, display_name, password, created_time })
      await recordAudit(trx, auditEvent(clock, call, 'user.create', `user ${id}`, username))
      return id
    })
    return view(await readable(id, person))
  })

  serve(router, api.user.update, async (call) => {
    await updateUserAsAdmin(deps, call)
    await announce({ topic: 'user', id: call.body.id })
    return view(await readable(call.body.id, call.person))
  })

  serve(router, api.user.manage, async (call) => {
    const { id, status, role } = await manageUser(deps, call)
    if (call.body.action === 'delete') deps.captures.sweepSoon()
    await announce({ topic: 'user', id })
    return { status, role }
  })

  serve(router, api.user.remove, async (call) => {
    const { id } = call.params
    await store.write(async (trx) => {
      const person = await call.admitAgain(trx, id)
      const target = await lockUser(trx, { id })
      if (!target) throw new ApiFailure('User not found.')
      if (target.role >= person.role)
        throw new ApiFailure('You cannot delete an account with the same role as yours or a higher one.')
      await deleteUser(trx, id)
      await recordAudit(trx, auditEvent(clock, call, 'user.delete', `user ${id}`, target.username))
    })
    deps.captures.sweepSoon()
    await announce({ topic: 'user', id })
  })

  mountUserAccess(router, deps)

  async function readable(id: number, person: Person) {
    const row = await userById(store.read, id)
    if (!row) throw new ApiFailure('User not found.')
    if (row.id !== person.id) refuseUnlessAbove(person, row)
    return row
  }
}
