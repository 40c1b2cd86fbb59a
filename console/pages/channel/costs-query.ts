import { queryOptions } from '@tanstack/react-query'
import { channelCostsApi } from '../../../contract/api/channel-costs.ts'
import { CallError, call } from '../../lib/call.ts'

/** What the upstream of a channel charges; null on servers that do not support costs. */
export const costsQuery = (id: number) =>
  queryOptions({
    queryKey: ['channel', 'costs', id],
    queryFn: ({ signal }) =>
      call(channelCostsApi.costs, { params: { id } }, { signal, quiet: true }).catch((error: unknown) => {
        if (error instanceof CallError && error.status === 404) return null
        throw error
      }),
  })
