import { useQuery } from '@tanstack/react-query'
import type { Token } from '../../../contract/api/token.ts'
import { useUsualModel } from '../../lib/usual-model.ts'
import { availableModelsQuery } from './queries.ts'

/** A model that the token may use, preferably a chat model. While the models are loading, it is a common model name. */
export function useModel(token: Token): string {
  const known = useQuery(availableModelsQuery())
  const own = token.models?.split(',').flatMap((name) => name.trim() || [])
  const { model } = useUsualModel(own?.length ? own : known.data)
  return model ?? 'gpt-4o-mini'
}
