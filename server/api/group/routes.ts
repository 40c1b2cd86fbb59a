import { api } from '../../../contract/api/index.ts'
import { type ApiRouter, serve } from '../../http/serve-endpoint.ts'
import type { ApiDeps } from '../deps.ts'

/** A group exists if the option GroupRatio contains it. */
export function mountGroups(router: ApiRouter, { settings }: Pick<ApiDeps, 'settings'>): void {
  serve(router, api.group.list, () => Object.keys(settings.current().GroupRatio).sort())
  serve(router, api.group.ratios, () => ({ ...settings.current().GroupRatio }))
}
