import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { statementApi } from '../../../contract/api/statement.ts'
import { call } from '../../lib/call.ts'

/** The statement of a month in the browser's time zone. If `user` is undefined, it is the user's own statement. */
export const statementQuery = (month: string, user: number | undefined) =>
  queryOptions({
    queryKey: ['statement', month, user],
    queryFn: ({ signal }) =>
      call(
        statementApi.statement,
        {
          query: {
            month,
            time_zone: Intl.DateTimeFormat().resolvedOptions().timeZone,
            ...(user !== undefined && { user_id: String(user) }),
          },
        },
        { signal, quiet: true },
      ),
    placeholderData: keepPreviousData,
  })

/** Whether statements are sent by email; undefined on a server without this feature. */
export const emailsQuery = queryOptions({
  queryKey: ['statement', 'emails'],
  queryFn: ({ signal }) => call(statementApi.statementEmails, {}, { signal, quiet: true }),
  retry: false,
})
