import { queryOptions, useQuery } from '@tanstack/react-query'
import type { Token } from '../../../contract/api/token.ts'
import { userApi } from '../../../contract/api/user.ts'
import { call } from '../../lib/call.ts'

/** The models that the account may call now. */
export const availableModelsQuery = queryOptions({
  queryKey: ['available-models'],
  queryFn: ({ signal }) => call(userApi.availableModels, {}, { signal, quiet: true }),
  staleTime: 60_000,
})

/** A model that the token may use; a common name while that is not known. */
export function useModel(token: Token): string {
  const known = useQuery(availableModelsQuery)
  const own = token.models?.split(',')[0]?.trim()
  return own || known.data?.[0] || 'gpt-4o-mini'
}
