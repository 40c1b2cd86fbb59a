import { queryOptions } from '@tanstack/react-query'
import { logApi } from '../../../contract/api/log.ts'
import { redemptionApi } from '../../../contract/api/redemption.ts'
import type { User } from '../../../contract/api/user.ts'
import { logType } from '../../../contract/log-types.ts'
import { call } from '../../lib/call.ts'
import { sinceDays } from '../../lib/days.ts'
import { queryClient } from '../../lib/query-client.ts'
import { selfQuery } from '../../lib/self.ts'

/** Quota spent in the last `days` days. */
export const spentQuery = (days: number) =>
  queryOptions({
    queryKey: ['topup', 'spent', days],
    queryFn: async ({ signal }) => {
      const query = { type: logType.consume, start_timestamp: sinceDays(days) }
      return (await call(logApi.selfStat, { query }, { signal, quiet: true })).quota
    },
  })

/** The latest top-ups. */
export const historyQuery = queryOptions({
  queryKey: ['topup', 'history'],
  queryFn: ({ signal }) => call(logApi.self, { query: { p: 0, type: logType.topUp } }, { signal, quiet: true }),
})

/** Redeems a code; returns the added quota, which is credited immediately. */
export async function redeem(key: string): Promise<number> {
  const added = await call(redemptionApi.redeem, { body: { key } }, { quiet: true })
  queryClient.setQueryData<User>(selfQuery.queryKey, (self) => self && { ...self, quota: self.quota + added })
  void queryClient.invalidateQueries({ queryKey: ['topup', 'history'] })
  return added
}
