import { api } from '../../../contract/api/index.ts'
import { roles } from '../../../contract/roles.ts'
import { ApiFailure } from '../../http/api-failure.ts'
import { type ApiRouter, serve } from '../../http/serve-endpoint.ts'
import { epochSeconds } from '../../lib/clock.ts'
import { randomBase62, randomHex } from '../../lib/secrets/ids.ts'
import { hashPassword } from '../../lib/secrets/password.ts'
import { affCodeOf } from '../../store/accounts/identities.ts'
import { deleteUser, revokeLogins, type UserFields, updateUser } from '../../store/accounts/user-changes.ts'
import { lockUser, userById } from '../../store/accounts/users.ts'
import { modelsOfGroup } from '../../store/channels/channels.ts'
import { virtualNamesOf } from '../../store/channels/virtual-models.ts'
import { recordAudit } from '../../store/installation/audit.ts'
import { auditEvent, describeChange } from '../audit-event.ts'
import type { Announce, ApiDeps } from '../deps.ts'
import { mayUseGroup, usableGroups } from '../usable-groups.ts'
import { userView } from '../user-view.ts'
import { newUsername } from './new-username.ts'

/** Calls for a person's own account. */
export function mountSelf(
  router: ApiRouter,
  {
    store,
    secrets,
    clock,
    captures,
    settings,
    announce,
  }: Pick<ApiDeps, 'store' | 'secrets' | 'clock' | 'captures' | 'settings'> & {
    announce: Announce
  },
): void {
  serve(router, api.user.self, async ({ person }) => {
    const row = await userById(store.read, person.id)
    if (!row) throw new ApiFailure('User not found.')
    return userView(row, epochSeconds(clock))
  })

  serve(router, api.user.updateSelf, async (call) => {
    const { person, body, context } = call
    // Hashing takes a tenth of a second. Inside the transaction, it would delay all other writers.
    const password = body.password ? await hashPassword(body.password) : undefined
    await store.write(async (trx) => {
      await call.admitAgain(trx)
      const me = await lockUser(trx, { id: person.id })
      if (!me) throw new ApiFailure('User not found.')
      const fields: UserFields = {}
      const username = await newUsername(trx, me, body.username)
      if (username !== undefined) fields.username = username
      if (body.display_name !== undefined) fields.display_name = body.display_name
      if (password !== undefined) fields.password = password
      await updateUser(trx, me.id, fields)
      if (password !== undefined) {
        // Everybody who used the old password is logged out. The person who changes it continues with a new session.
        await revokeLogins(trx, me.id)
        if (router.sessions.hasCookie(context)) await router.sessions.start(context, trx, me.id)
      }
      const detail = describeChange(me, fields, ['username', 'display_name'])
      await recordAudit(trx, auditEvent(clock, call, 'user.update-self', `user ${me.id}`, detail))
    })
    await announce({ topic: 'user', id: person.id })
  })

  serve(router, api.user.deleteSelf, async (call) => {
    const { person, context } = call
    await store.write(async (trx) => {
      const { role } = await call.admitAgain(trx)
      if (role >= roles.root) throw new ApiFailure('A super admin cannot delete their own account.')
      await deleteUser(trx, person.id)
      await router.sessions.end(context, trx)
      await recordAudit(trx, auditEvent(clock, call, 'user.delete-self', `user ${person.id}`))
    })
    captures.sweepSoon()
    await announce({ topic: 'user', id: person.id })
  })

  serve(router, api.user.accessToken, async (call) => {
    const token = randomHex(16)
    await store.write(async (trx) => {
      await call.admitAgain(trx)
      const access_token_hash = secrets.fingerprint(token, 'access-token')
      await updateUser(trx, call.person.id, { access_token_hash })
      await recordAudit(trx, auditEvent(clock, call, 'user.new-access-token', `user ${call.person.id}`))
    })
    return token
  })

  serve(router, api.user.aff, ({ person }) => store.write((trx) => affCodeOf(trx, person.id, randomBase62(8))))

  serve(router, api.user.availableModels, async ({ person, query }) => {
    const { group = person.group } = query
    if (!mayUseGroup(group, person.group, settings.current()) && person.role < roles.admin)
      throw new ApiFailure('Only admins can see the models of another group.')
    const names = await Promise.all([modelsOfGroup(store.read, group), virtualNamesOf(store.read, group)])
    return [...new Set(names.flat())].sort()
  })

  serve(router, api.user.groups, ({ person }) => usableGroups(person.group, settings.current()))
}
