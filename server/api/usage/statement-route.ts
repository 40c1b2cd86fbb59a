import { api } from '../../../contract/api/index.ts'
import { roles } from '../../../contract/roles.ts'
import { ApiFailure } from '../../http/api-failure.ts'
import { type ApiRouter, serve } from '../../http/serve-endpoint.ts'
import { epochSeconds } from '../../lib/clock.ts'
import { startOfDay, timeZone } from '../../lib/time-zone.ts'
import { userById } from '../../store/accounts/users.ts'
import { statementFigures } from '../../store/usage/statement.ts'
import { statementBalances } from '../../store/usage/statement-balances.ts'
import type { ApiDeps } from '../deps.ts'

/** Monthly statements. Admins can read all of them, other people only their own. */
export function mountStatement(router: ApiRouter, { store, clock }: Pick<ApiDeps, 'store' | 'clock'>): void {
  serve(router, api.usage.statement, async ({ query, person }) => {
    const userId = query.user_id || person.id
    if (userId !== person.id && person.role < roles.admin)
      throw new ApiFailure('You may only read your own statements.')
    const zone = timeZone(query.time_zone)
    if (!zone) throw new ApiFailure('time_zone must be the name of a time zone, such as Europe/Berlin.')
    const [year = 0, month = 0] = query.month.split('-').map(Number)
    const now = epochSeconds(clock)
    const start = startOfDay(zone, year, month, 1)
    if (start > now) throw new ApiFailure('This month has not begun yet.')
    const end = startOfDay(zone, year, month + 1, 1) - 1
    const user = await userById(store.read, userId)
    const figures = user && (await statementFigures(store.read, { userId, start, end }))
    if (!user || !figures) throw new ApiFailure('This user does not exist.')
    const { id, username, display_name } = user
    return {
      month: query.month,
      time_zone: zone.name,
      start,
      end: Math.min(end, now),
      user: { id, username, display_name },
      ...statementBalances(figures, { start, end, isOver: end < now, withCosts: person.role >= roles.admin }),
    }
  })
}
