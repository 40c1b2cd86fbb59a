import { api } from '../../../contract/api/index.ts'
import { maxValues, type ValueDimension } from '../../../contract/api/usage-values.ts'
import { roles } from '../../../contract/roles.ts'
import { ApiFailure } from '../../http/api-failure.ts'
import { type ApiRouter, serve } from '../../http/serve-endpoint.ts'
import { epochSeconds } from '../../lib/clock.ts'
import { usageGroups, usageValues, type ValueColumn } from '../../store/usage/usage-values.ts'
import type { ApiDeps } from '../deps.ts'

const columns: Readonly<Record<Exclude<ValueDimension, 'group'>, ValueColumn>> = {
  model: 'model_name',
  token: 'token_name',
  project: 'project',
  user: 'username',
  channel: 'channel_id',
}

/** What people who are not admins can list, of their own rows. */
const ownDimensions: readonly ValueDimension[] = ['model', 'token', 'project']

const hour = 3600

/** The values by which logs and usage can be filtered. */
export function mountUsageValues(router: ApiRouter, { store, clock }: Pick<ApiDeps, 'store' | 'clock'>): void {
  serve(router, api.usage.values, async ({ query, person }) => {
    const isAdmin = person.role >= roles.admin
    if (!isAdmin && !ownDimensions.includes(query.of))
      throw new ApiFailure('Only admins can list users, channels and groups.')
    const now = epochSeconds(clock)
    const end = query.end_timestamp === 0 ? now : Math.min(query.end_timestamp, now)
    const ask = {
      userId: isAdmin && query.mine === undefined ? undefined : person.id,
      range: { from: Math.floor(query.start_timestamp / hour), to: Math.floor(end / hour) + 1 },
      keyword: query.keyword.trim(),
      limit: maxValues,
    }
    const found = await (query.of === 'group'
      ? usageGroups(store.read, ask)
      : usageValues(store.read, { ...ask, column: columns[query.of] }))
    return found.map(({ value, name, rows }) => ({ value: String(value), name, rows }))
  })
}
