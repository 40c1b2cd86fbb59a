import { useQuery } from '@tanstack/react-query'
import type { Token } from '../../../contract/api/token.ts'
import { availableModelsQuery } from './queries.ts'

/** A model that the token may use; a common name while that is not known. */
export function useModel(token: Token): string {
  const known = useQuery(availableModelsQuery)
  const own = token.models?.split(',')[0]?.trim()
  return own || known.data?.[0] || 'gpt-4o-mini'
}
