import { api } from '../../../contract/api/index.ts'
import { ApiFailure } from '../../http/api-failure.ts'
import { refusalOf } from '../../http/refusal-code.ts'
import { type ApiRouter, serve } from '../../http/serve-endpoint.ts'
import { recordAudit } from '../../store/installation/audit.ts'
import { auditEvent } from '../audit-event.ts'
import type { ApiDeps } from '../deps.ts'

/** The copy of the log in a second database: its state, and a test of that database. */
export function mountLogCopy(router: ApiRouter, deps: Pick<ApiDeps, 'store' | 'clock' | 'logCopy'>): void {
  const { store, clock, logCopy } = deps

  serve(router, api.logCopy.state, async () => {
    const { name, isSetByEnvironment, waiting, sentRows, sentAt, lostRows, lostAt, error, failedAt } =
      await logCopy.state()
    const refusal = refusalOf(error)
    return {
      ...{ name, set_by_environment: isSetByEnvironment, waiting_rows: waiting, sent_rows: sentRows, sent_at: sentAt },
      ...{ lost_rows: lostRows, lost_at: lostAt, error, failed_at: failedAt },
      ...(refusal && { error_code: refusal.code, ...(refusal.values && { error_values: refusal.values }) }),
    }
  })

  serve(router, api.logCopy.test, async (call) => {
    await store.write(async (trx) => {
      await call.admitAgain(trx)
      await recordAudit(trx, auditEvent(clock, call, 'log.test-copy', 'log'))
    })
    const outcome = await logCopy.test()
    if (outcome === 'off') throw new ApiFailure('Choose where the log is copied to first.')
    if (outcome !== 'ok') throw new ApiFailure(outcome)
  })
}
