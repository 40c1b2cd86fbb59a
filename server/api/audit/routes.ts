import { api } from '../../../contract/api/index.ts'
import { listed, pageOf } from '../../http/list-page.ts'
import { type ApiRouter, serve } from '../../http/serve-endpoint.ts'
import { listAudit } from '../../store/installation/audit.ts'
import type { ApiDeps } from '../deps.ts'

/** The audit log: the actions of people on this installation. */
export function mountAudit(router: ApiRouter, { store }: Pick<ApiDeps, 'store'>): void {
  serve(router, api.audit.list, async ({ query, context }) =>
    listed(context, await listAudit(store.read, query, pageOf(query))),
  )
}
