import { queryOptions } from '@tanstack/react-query'
import { groupApi } from '../../contract/api/group.ts'
import { call } from './call.ts'

/** Names of all groups, for admins. */
export const groupsQuery = queryOptions({
  queryKey: ['group'],
  queryFn: ({ signal }) => call(groupApi.list, {}, { signal, quiet: true }),
})
