import { api } from '../../../contract/api/index.ts'
import { ApiFailure } from '../../http/api-failure.ts'
import { type ApiRouter, serve } from '../../http/serve-endpoint.ts'
import { recordAudit } from '../../store/installation/audit.ts'
import { listBackups } from '../../store/installation/backups.ts'
import { auditEvent } from '../audit-event.ts'
import type { ApiDeps } from '../deps.ts'

const listed = 20

/** Backups that the server makes: which there are, and one more now. */
export function mountBackups(router: ApiRouter, deps: Pick<ApiDeps, 'store' | 'clock' | 'backups'>): void {
  const { store, clock, backups } = deps

  serve(router, api.backup.list, async () => ({
    next_at: await backups.nextAt(),
    backups: await listBackups(store.read, listed),
  }))

  serve(router, api.backup.start, async (call) => {
    await store.write(async (trx) => {
      await call.admitAgain(trx)
      await recordAudit(trx, auditEvent(clock, call, 'backup.start', 'backup'))
    })
    const outcome = await backups.start(call.person.username)
    if (outcome === 'off') throw new ApiFailure('Set BackupStore first.')
    if (outcome === 'running') throw new ApiFailure('A backup is being made already.')
  })
}
