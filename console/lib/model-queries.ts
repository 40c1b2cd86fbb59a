import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { modelApi } from '../../contract/api/model.ts'
import { priceApi } from '../../contract/api/price.ts'
import { call } from './call.ts'

/** The models that a group can call, and their prices. Without `group`, it is the user's own group. */
export const pricesQuery = (group: string | undefined) =>
  queryOptions({
    queryKey: ['prices', group],
    queryFn: ({ signal }) =>
      call(priceApi.list, { query: group === undefined ? {} : { group } }, { signal, quiet: true }),
    placeholderData: keepPreviousData,
  })

/** Published facts about these models. They change only with the server's version and its channels. */
export const factsQuery = (group: string | undefined) =>
  queryOptions({
    queryKey: ['model facts', group],
    queryFn: ({ signal }) =>
      call(modelApi.facts, { query: group === undefined ? {} : { group } }, { signal, quiet: true }),
    placeholderData: keepPreviousData,
    staleTime: 5 * 60_000,
    retry: false,
  })
