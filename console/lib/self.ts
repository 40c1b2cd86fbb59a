import { queryOptions } from '@tanstack/react-query'
import { userApi } from '../../contract/api/user.ts'
import { call } from './call.ts'
import { sessionUser, setSessionUser } from './session.ts'

/** The user's own account in its current state on the server; the browser's copy is updated from it. */
export const selfQuery = queryOptions({
  queryKey: ['self'],
  queryFn: async ({ signal }) => {
    const user = await call(userApi.self, {}, { signal, quiet: true })
    if (sessionUser()?.id === user.id) setSessionUser(user)
    return user
  },
  staleTime: 30_000,
})
