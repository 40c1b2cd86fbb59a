import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import type { User } from '../../../contract/api/user.ts'
import { type UserToken, userAccessApi } from '../../../contract/api/user-access.ts'
import { call, callFull } from '../../lib/call.ts'
import { queryClient } from '../../lib/query-client.ts'

/** A page of the tokens of a user, without their keys. */
export const userTokensQuery = (id: number, page: number) =>
  queryOptions({
    queryKey: ['user', 'tokens', id, page],
    queryFn: ({ signal }) => callFull(userAccessApi.tokens, { params: { id }, query: { p: page } }, quiet(signal)),
    placeholderData: keepPreviousData,
  })

/** A page of the console sessions of a user, the most recently used first. */
export const userSessionsQuery = (id: number, page: number) =>
  queryOptions({
    queryKey: ['user', 'sessions', id, page],
    queryFn: ({ signal }) => callFull(userAccessApi.sessions, { params: { id }, query: { p: page } }, quiet(signal)),
    placeholderData: keepPreviousData,
  })

const quiet = (signal: AbortSignal) => ({ signal, quiet: true })

const tokensOf = (id: number) => queryClient.invalidateQueries({ queryKey: ['user', 'tokens', id] })
const sessionsOf = (id: number) => queryClient.invalidateQueries({ queryKey: ['user', 'sessions', id] })

/** Enables or disables a token of a user. */
export async function setUserTokenStatus(user: User, token: UserToken, status: number): Promise<void> {
  await call(userAccessApi.setTokenStatus, { params: { id: user.id, token: token.id }, body: { status } })
  await Promise.all([tokensOf(user.id), queryClient.invalidateQueries({ queryKey: ['token'] })])
}

/** Ends a session of a user. */
export async function endUserSession(user: User, session: string): Promise<void> {
  await call(userAccessApi.endSession, { params: { id: user.id, session } })
  await sessionsOf(user.id)
}

/** Ends all sessions of a user, except the caller's own; resolves with their number. */
export async function endUserSessions(user: User): Promise<number> {
  const ended = await call(userAccessApi.endSessions, { params: { id: user.id } })
  await sessionsOf(user.id)
  return ended
}
