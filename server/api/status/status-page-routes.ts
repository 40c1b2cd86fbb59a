import { api } from '../../../contract/api/index.ts'
import { ApiFailure } from '../../http/api-failure.ts'
import { type ApiRouter, servePublic } from '../../http/serve-endpoint.ts'
import { epochSeconds } from '../../lib/clock.ts'
import { availabilityOf } from '../../store/usage/availability.ts'
import { cachedFor } from '../cached-for.ts'
import type { ApiDeps } from '../deps.ts'
import { shownRanges, statusPage } from './status-page.ts'

const visitorsGroup = 'default'

/**
 * The status page's data. No matter how many people open the page, the database answers only one query every 30
 * seconds.
 */
export function mountStatusPage(
  router: ApiRouter,
  { store, clock, settings, priceList }: Pick<ApiDeps, 'store' | 'clock' | 'settings' | 'priceList'>,
): void {
  const current = cachedFor(async () => {
    const now = epochSeconds(clock)
    const rows = await availabilityOf(store.read, shownRanges(now))
    return statusPage(
      rows,
      priceList(visitorsGroup).models.map(({ model }) => model),
      now,
    )
  }, clock)

  servePublic(router, api.statusPage.read, () => {
    if (!settings.current().StatusPageEnabled) throw new ApiFailure('This server has no status page.', 404)
    return current()
  })
}
