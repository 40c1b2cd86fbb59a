import { queryOptions } from '@tanstack/react-query'
import { statusApi } from '../../contract/api/status.ts'
import { CallError, call } from './call.ts'

/** The installation's notice; empty if there is none. */
export const noticeQuery = queryOptions({
  queryKey: ['notice'],
  queryFn: async ({ signal }) => {
    try {
      return await call(statusApi.notice, {}, { signal, quiet: true })
    } catch (error) {
      if (error instanceof CallError && error.status === 404) return ''
      throw error
    }
  },
})
