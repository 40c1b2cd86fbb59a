import type { AuditAction } from '../../contract/audit-actions.ts'
import { epochSeconds, systemClock } from '../lib/clock.ts'
import { recordAudit } from '../store/installation/audit.ts'
import type { Store, Trx } from '../store/store.ts'

/** Records an action from the command line in the audit log. */
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

/** Like `auditCommand`, in its own transaction. */
export function auditCommandIn(store: Store, action: AuditAction, target: string, detail = ''): Promise<void> {
  return store.write((trx) => auditCommand(trx, action, target, detail))
}
