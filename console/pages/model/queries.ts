import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { priceApi } from '../../../contract/api/price.ts'
import { call } from '../../lib/call.ts'

/** The models that a group can call and their prices; without `group`, those of the user's own group. */
export const pricesQuery = (group: string | undefined) =>
  queryOptions({
    queryKey: ['prices', group],
    queryFn: ({ signal }) =>
      call(priceApi.list, { query: group === undefined ? {} : { group } }, { signal, quiet: true }),
    placeholderData: keepPreviousData,
  })
