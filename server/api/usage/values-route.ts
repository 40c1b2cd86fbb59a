import { api } from '../../../contract/api/index.ts'
import { maxValues, type ValueDimension } from '../../../contract/api/usage-values.ts'
import { roles } from '../../../contract/roles.ts'
import { ApiFailure } from '../../http/api-failure.ts'
import { type ApiRouter, serve } from '../../http/serve-endpoint.ts'
import { epochSeconds } from '../../lib/clock.ts'
import { usageValues, type ValueColumn } from '../../store/usage/usage-values.ts'
import type { ApiDeps } from '../deps.ts'

const columns: Readonly<Record<ValueDimension, ValueColumn>> = {
  model: 'model_name',
  token: 'token_name',
  user: 'username',
  channel: 'channel_id',
}

const hour = 3600

/** The values that lists of logs and usage can be filtered by. */
export function mountUsageValues(router: ApiRouter, { store, clock }: Pick<ApiDeps, 'store' | 'clock'>): void {
  serve(router, api.usage.values, async ({ query, person }) => {
    const isAdmin = person.role >= roles.admin
    if (!isAdmin && (query.of === 'user' || query.of === 'channel'))
      throw new ApiFailure('Only admins can list users and channels.')
    const now = epochSeconds(clock)
    const end = query.end_timestamp === 0 ? now : Math.min(query.end_timestamp, now)
    const found = await usageValues(store.read, {
      column: columns[query.of],
      userId: isAdmin && query.mine === undefined ? undefined : person.id,
      range: { from: Math.floor(query.start_timestamp / hour), to: Math.floor(end / hour) + 1 },
      keyword: query.keyword.trim(),
      limit: maxValues,
    })
    return found.map(({ value, name, rows }) => ({ value: String(value), name, rows }))
  })
}
