import { queryOptions } from '@tanstack/react-query'
import { userApi } from '../../contract/api/user.ts'
import { call } from './call.ts'
import { sessionUser, setSessionUser } from './session.ts'

/** The current state of the user's own account on the server. It also updates the browser's copy. */
export const selfQuery = queryOptions({
  queryKey: ['self'],
  queryFn: async ({ signal }) => {
    const user = await call(userApi.self, {}, { signal, quiet: true })
    if (sessionUser()?.id === user.id) setSessionUser(user)
    return user
  },
  staleTime: 30_000,
})
