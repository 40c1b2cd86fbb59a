import { queryOptions } from '@tanstack/react-query'
import { type AuditRow, auditApi } from '../../../contract/api/audit.ts'
import { authApi } from '../../../contract/api/auth.ts'
import { type OptionDefinitionEntry, optionApi } from '../../../contract/api/option.ts'
import { userApi } from '../../../contract/api/user.ts'
import { CallError, call } from '../../lib/call.ts'
import { sinceDays } from '../../lib/days.ts'
import { listSource } from '../../lib/list-source.ts'
import { queryClient } from '../../lib/query-client.ts'
import { readUsage } from '../../lib/read-usage.ts'
import { selfQuery } from '../../lib/self.ts'
import { setSessionUser } from '../../lib/session.ts'
import { loadStatus } from '../../lib/status.ts'
import type { Option } from './drafts.ts'
import { withOptionName } from './option-names.ts'

/** The audit log: which user did what. */
export const auditTrail = listSource<AuditRow>('audit', { list: auditApi.list })

const optionsKey = ['option', 'all']

/** Every option with its value. */
export const optionsQuery = queryOptions({
  queryKey: optionsKey,
  queryFn: async ({ signal }): Promise<Option[]> => {
    const options = { signal, quiet: true }
    const [stored, known] = await Promise.all([call(optionApi.list, {}, options), definitions(signal)])
    const values = new Map(stored.map(({ key, value }) => [key, value]))
    const all = known ?? (await import('./classic-definitions.ts')).classicDefinitions(values)
    return all.map((definition) => ({
      ...definition,
      value: definition.secret ? '' : (values.get(definition.key) ?? definition.default),
    }))
  },
  staleTime: 30_000,
})

/** The option definitions; undefined if the server does not provide them. */
async function definitions(signal: AbortSignal): Promise<OptionDefinitionEntry[] | undefined> {
  try {
    return await call(optionApi.definitions, {}, { signal, quiet: true })
  } catch (error) {
    if (error instanceof CallError && error.status === 404) return undefined
    throw error
  }
}

/**
 * Saves one option and updates the displayed value. An error is shown, and thrown, with the option's name instead of
 * its key.
 */
export async function saveOption(key: string, value: string): Promise<void> {
  await call(optionApi.update, { body: { key, value } }, { words: (failure) => withOptionName(failure, key) })
  queryClient.setQueryData<Option[]>(optionsKey, (options) =>
    options?.map((option) => (option.key === key ? saved(option, value) : option)),
  )
}

function saved(option: Option, value: string): Option {
  return option.secret ? { ...option, is_set: value !== '' } : { ...option, value }
}

/** Reloads data in other parts of the console that depends on the options. */
export async function afterSaving(keys: readonly string[]): Promise<void> {
  if (keys.some((key) => key.endsWith('Ratio') || key === 'ModelPrice')) {
    await queryClient.invalidateQueries({ queryKey: pricesQuery.queryKey })
  }
  await Promise.all([loadStatus(), queryClient.invalidateQueries({ queryKey: ['written'] })])
}

/** Prices of models; empty if the server does not report them. */
export const pricesQuery = queryOptions({
  queryKey: ['option', 'prices'],
  queryFn: ({ signal }) =>
    call(optionApi.prices, {}, { signal, quiet: true }).catch((error: unknown) => {
      if (error instanceof CallError && error.status === 404) return []
      throw error
    }),
  staleTime: 60_000,
})

/** The maximum number of models that the server lists. */
const mostModels = 50

/** Usage of all users in the last 7 days, by model. */
export const weekQuery = queryOptions({
  queryKey: ['usage', 'week of models'],
  queryFn: ({ signal }) => {
    const query = { start_timestamp: sinceDays(7), group_by: 'model', top: mostModels }
    return readUsage(query, signal)
  },
  staleTime: 60_000,
})

/** Creates a new access token; the old one becomes invalid. */
export const newAccessToken = () => call(userApi.accessToken, {})

/** The user's own invite code. */
export const inviteCode = () => call(userApi.aff, {})

/** Reloads the user's own account after another account was connected to it. */
export const refreshSelf = () => queryClient.invalidateQueries({ queryKey: selfQuery.queryKey })

/** Deletes the user's own account and ends the session. */
export async function deleteOwnAccount(): Promise<void> {
  await call(userApi.deleteSelf, {})
  // The account no longer exists, so the logout may fail.
  await call(authApi.logout, {}, { quiet: true }).catch(() => undefined)
  setSessionUser(undefined)
}
