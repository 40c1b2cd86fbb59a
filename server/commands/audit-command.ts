import type { AuditAction } from '../../contract/audit-actions.ts'
import { epochSeconds, systemClock } from '../lib/clock.ts'
import { recordAudit } from '../store/installation/audit.ts'
import type { Store, Trx } from '../store/store.ts'

/** Records in the audit log what somebody did on the command line. */
export function auditCommand(trx: Trx, action: AuditAction, target: string, detail = ''): Promise<void> {
  return recordAudit(trx, {
    created_at: epochSeconds(systemClock),
    actor_id: 0,
    actor_name: 'command line',
    action,
    target,
    detail,
    ip: '',
  })
}

/** Like `auditCommand`, in a transaction of its own. */
export function auditCommandIn(store: Store, action: AuditAction, target: string, detail = ''): Promise<void> {
  return store.write((trx) => auditCommand(trx, action, target, detail))
}
