import { queryOptions } from '@tanstack/react-query'
import type * as z from 'zod/mini'
import { logApi } from '../../../contract/api/log.ts'
import {
  type createUserBody,
  type manageActions,
  type User,
  type updateUserBody,
  userApi,
} from '../../../contract/api/user.ts'
import { logType } from '../../../contract/log-types.ts'
import { call } from '../../lib/call.ts'
import { sinceDays } from '../../lib/days.ts'
import { listSource } from '../../lib/list-source.ts'
import { queryClient } from '../../lib/query-client.ts'
import { selfQuery } from '../../lib/self.ts'
import { isClassicServer } from '../../lib/status.ts'

/** All users. */
export const users = listSource<User>('user', { list: userApi.list, search: userApi.search })

/** One user. */
export const userQuery = (id: string) =>
  queryOptions({
    queryKey: ['user', 'one', id],
    queryFn: ({ signal }) => call(userApi.get, { params: { id } }, { signal, quiet: true }),
  })

/** Quota that a user spent in the last 7 days. */
export const userSpentQuery = (username: string) =>
  queryOptions({
    queryKey: ['user', 'spent', username],
    queryFn: async ({ signal }) => {
      const query = { type: logType.consume, username, start_timestamp: sinceDays(7) }
      return (await call(logApi.stat, { query }, { signal, quiet: true })).quota
    },
  })

export type ManageAction = (typeof manageActions)[number]

function forget(id: number): Promise<void> {
  return queryClient.invalidateQueries({ queryKey: ['user', 'one', String(id)] })
}

/** Promotes, demotes, bans, unbans or deletes a user; the row shows the role and status that the server returns. */
export async function manageUser(user: User, action: ManageAction): Promise<{ role: number; status: number }> {
  const { role, status } = await call(userApi.manage, { body: { username: user.username, action } })
  users.patch(
    (row) => row.id === user.id,
    (row) => ({ ...row, role, status }),
  )
  // If the list is filtered by role or status, the row may no longer belong to it.
  if (action !== 'delete')
    void users.refresh(({ filters }) => Object.values(filters).some((value) => value !== undefined))
  await (action === 'delete' ? users.refresh() : forget(user.id))
  return { role, status }
}

/** Adds to a user's balance. */
export async function giveQuota(user: User, quota: number): Promise<void> {
  if (isClassicServer()) {
    // A server that has only one-api's endpoints accepts only a new balance. The amount is therefore added to the
    // current balance here.
    const now = await call(userApi.get, { params: { id: user.id } })
    const { id, username, display_name, group } = now
    await call(userApi.update, { body: { id, username, display_name, group, quota: now.quota + quota } })
  } else await call(userApi.update, { body: { id: user.id, quota_delta: quota } })
  await Promise.all([users.refresh(), forget(user.id)])
}

/** Creates an ordinary account. */
export async function createUser(body: z.input<typeof createUserBody>): Promise<void> {
  await call(userApi.create, { body })
  await users.refresh()
}

/** Changes a user; fields that are not sent keep their values. */
export async function updateUser(body: z.input<typeof updateUserBody>): Promise<void> {
  await call(userApi.update, { body })
  await Promise.all([users.refresh(), forget(body.id)])
}

/** Changes the user's own account. An empty password keeps the current one. */
export async function updateSelf(body: { username: string; display_name: string; password: string }): Promise<void> {
  await call(userApi.updateSelf, { body })
  await queryClient.invalidateQueries({ queryKey: selfQuery.queryKey })
}
