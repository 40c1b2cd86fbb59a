import { api } from '../../../contract/api/index.ts'
import { roles } from '../../../contract/roles.ts'
import { ApiFailure } from '../../http/api-failure.ts'
import { type ApiRouter, serve } from '../../http/serve-endpoint.ts'
import type { ApiDeps } from '../deps.ts'

/** Prices of models for their callers. */
export function mountPrices(router: ApiRouter, { priceList }: Pick<ApiDeps, 'priceList'>): void {
  serve(router, api.price.list, ({ person, query }) => {
    const { group = person.group } = query
    if (group !== person.group && person.role < roles.admin)
      throw new ApiFailure('Only admins can see the prices of another group.')
    return priceList(group)
  })
}
