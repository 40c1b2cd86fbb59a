import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { priceApi } from '../../../contract/api/price.ts'
import { call } from '../../lib/call.ts'

/** What a group can call and what it costs; without a group the own one. */
export const pricesQuery = (group: string | undefined) =>
  queryOptions({
    queryKey: ['prices', group],
    queryFn: ({ signal }) =>
      call(priceApi.list, { query: group === undefined ? {} : { group } }, { signal, quiet: true }),
    placeholderData: keepPreviousData,
  })
