import { api } from '../../../contract/api/index.ts'
import { roles } from '../../../contract/roles.ts'
import { ApiFailure } from '../../http/api-failure.ts'
import { type ApiRouter, serve } from '../../http/serve-endpoint.ts'
import type { ApiDeps } from '../deps.ts'
import { mayUseGroup } from '../usable-groups.ts'

/** Prices of models for their callers. */
export function mountPrices(router: ApiRouter, { priceList, settings }: Pick<ApiDeps, 'priceList' | 'settings'>): void {
  serve(router, api.price.list, ({ person, query }) => {
    const { group = person.group } = query
    if (!mayUseGroup(group, person.group, settings.current()) && person.role < roles.admin)
      throw new ApiFailure('Only admins can see the prices of another group.')
    return priceList(group, person.group)
  })
}
