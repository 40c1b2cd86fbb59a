import { queryOptions } from '@tanstack/react-query'
import { modelApi } from '../../../contract/api/model.ts'
import { call } from '../../lib/call.ts'

/** Speed, uptime and the user's own spending. */
export const figuresQuery = queryOptions({
  queryKey: ['model figures'],
  queryFn: ({ signal }) => call(modelApi.figures, {}, { signal, quiet: true }),
  retry: false,
})

/** The models and prices that visitors see. */
export const visitorsQuery = queryOptions({
  queryKey: ['public models'],
  queryFn: ({ signal }) => call(modelApi.visitors, {}, { signal, quiet: true }),
  staleTime: 60_000,
  retry: false,
})
