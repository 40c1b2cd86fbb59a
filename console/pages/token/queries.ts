import { queryOptions } from '@tanstack/react-query'
import { logApi } from '../../../contract/api/log.ts'
import { type Token, tokenApi } from '../../../contract/api/token.ts'
import { userApi } from '../../../contract/api/user.ts'
import { logType } from '../../../contract/log-types.ts'
import { call, callFull } from '../../lib/call.ts'
import { sinceDays } from '../../lib/days.ts'
import { isOfOneStatus, listSource } from '../../lib/list-source.ts'
import { queryClient } from '../../lib/query-client.ts'
import type { TokenValues } from './form-values.ts'

/** The user's own tokens. */
export const tokens = listSource<Token>('token', { list: tokenApi.list, search: tokenApi.search })

/** One of the user's own tokens. */
export const tokenQuery = (id: string) =>
  queryOptions({
    queryKey: ['token', 'one', id],
    queryFn: ({ signal }) => call(tokenApi.get, { params: { id } }, { signal, quiet: true }),
  })

/** The models that the account can currently call in a group. '' stands for the account's own group. */
export const availableModelsQuery = (group = '') =>
  queryOptions({
    queryKey: ['available-models', group],
    queryFn: ({ signal }) =>
      call(userApi.availableModels, { query: group === '' ? {} : { group } }, { signal, quiet: true }),
    staleTime: 60_000,
  })

/** The groups that the user may choose for a token, with their ratios. A server without token groups has none. */
export const groupsQuery = queryOptions({
  queryKey: ['usable-groups'],
  queryFn: ({ signal }) => call(userApi.groups, {}, { signal, quiet: true }),
  staleTime: 60_000,
})

/** The projects of the user's own tokens, with their totals. */
export const projectsQuery = queryOptions({
  queryKey: ['token', 'projects'],
  queryFn: ({ signal }) => call(tokenApi.projects, {}, { signal, quiet: true }),
  staleTime: 60_000,
})

const forgetProjects = () => queryClient.invalidateQueries({ queryKey: projectsQuery.queryKey })

/** Enables (1) or disables (2) a token; its row shows the status that the server returns. */
export async function setTokenStatus(token: Token, status: number): Promise<void> {
  const body = { id: token.id, status }
  const changed = await call(tokenApi.update, { query: { status_only: 'true' }, body })
  tokens.patch(
    (row) => row.id === token.id,
    (row) => ({ ...row, status: changed?.status ?? status }),
  )
  void tokens.refresh(isOfOneStatus)
  await queryClient.invalidateQueries({ queryKey: ['token', 'one', String(token.id)] })
}

/** Gives a token a new key. The old key stays valid for `keepSeconds`. Returns the token with its new key. */
export async function rotateKey(id: number, keepSeconds: number): Promise<Token> {
  const token = await call(tokenApi.rotate, { params: { id }, body: { keep_seconds: keepSeconds } })
  await replaceRow(token)
  return token
}

/** Makes the previous key of a token invalid. */
export async function endOldKey(id: number): Promise<void> {
  await replaceRow(await call(tokenApi.endOldKey, { params: { id } }))
}

async function replaceRow(token: Token): Promise<void> {
  tokens.patch(
    (row) => row.id === token.id,
    () => token,
  )
  await queryClient.invalidateQueries({ queryKey: ['token', 'one', String(token.id)] })
}

/** Deletes a token and reloads the list. */
export async function removeToken(token: Token): Promise<void> {
  await call(tokenApi.remove, { params: { id: token.id } })
  await Promise.all([tokens.refresh(), forgetProjects()])
}

/**
 * The request body, in which the models are a single string. A server without token groups or projects refuses the
 * fields `group` and `project`. Each is therefore sent only if it is filled in, or if the token had one before (`had`).
 */
const bodyOf = ({ models, group, project, ...values }: TokenValues, had: Partial<Token> = {}) => ({
  ...values,
  ...((group !== '' || (had.group ?? '') !== '') && { group }),
  ...((project !== '' || (had.project ?? '') !== '') && { project }),
  models: models.join(','),
})

/**
 * Creates a token and returns it. If the server's response does not contain the token, as on one-api, returns the
 * newest token in the list; undefined if the list cannot be loaded.
 */
export async function createToken(values: TokenValues): Promise<Token | undefined> {
  const { data } = await callFull(tokenApi.create, { body: bodyOf(values) })
  await Promise.all([tokens.refresh(), forgetProjects()])
  return data ?? newestToken()
}

/** Returns the first row of the list, which shows the newest token first. */
async function newestToken(): Promise<Token | undefined> {
  const rows = await call(tokenApi.list, { query: { p: 0 } }, { quiet: true }).catch(() => [])
  return rows[0]
}

/** Changes a token. */
export async function updateToken(token: Token, values: TokenValues): Promise<void> {
  const { id } = token
  await call(tokenApi.update, { query: {}, body: { id, ...bodyOf(values, token) } })
  queryClient.removeQueries({ queryKey: ['token', 'one', String(id)] })
  await Promise.all([tokens.refresh(), forgetProjects()])
}

/** Quota that was spent with a token in the last 7 days. */
export const tokenSpentQuery = (name: string) =>
  queryOptions({
    queryKey: ['token', 'spent', name],
    queryFn: ({ signal }) => {
      const query = { type: logType.consume, token_name: name, start_timestamp: sinceDays(7) }
      return call(logApi.selfStat, { query }, { signal, quiet: true })
    },
  })

/** The latest calls made with a token. */
export const tokenLogsQuery = (name: string) =>
  queryOptions({
    queryKey: ['token', 'logs', name],
    queryFn: ({ signal }) => {
      const query = { p: 0, type: logType.consume, token_name: name }
      return call(logApi.self, { query }, { signal, quiet: true })
    },
  })
