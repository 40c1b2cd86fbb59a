import { api } from '../../../contract/api/index.ts'
import type { StatementEmails } from '../../../contract/api/statement.ts'
import { roles } from '../../../contract/roles.ts'
import type { Person } from '../../http/app-env.ts'
import { type ApiRouter, serve } from '../../http/serve-endpoint.ts'
import { epochSeconds } from '../../lib/clock.ts'
import { utcPeriods } from '../../lib/utc.ts'
import { setStatementsWanted, statementCounts, wantsStatements } from '../../store/accounts/statement-emails.ts'
import { userById } from '../../store/accounts/users.ts'
import { recordAudit } from '../../store/installation/audit.ts'
import { auditEvent } from '../audit-event.ts'
import type { ApiDeps } from '../deps.ts'

/** Monthly statements by email. Users turn their own emails on or off. Admins see how many were sent. */
export function mountStatementEmails(
  router: ApiRouter,
  { store, clock, settings }: Pick<ApiDeps, 'store' | 'clock' | 'settings'>,
): void {
  const view = async (person: Pick<Person, 'id' | 'role'>): Promise<StatementEmails> => {
    const before = utcPeriods(epochSeconds(clock)).monthStart - 1
    const month = new Date(before * 1000).toISOString().slice(0, 7)
    const [wanted, user, counted] = await Promise.all([
      wantsStatements(store.read, person.id),
      userById(store.read, person.id),
      person.role >= roles.admin ? statementCounts(store.read, month) : undefined,
    ])
    const sum = (...states: string[]) =>
      (counted ?? []).reduce((total, { state, count }) => total + (states.includes(state) ? Number(count) : 0), 0)
    return {
      offered: settings.current().StatementEmailEnabled,
      wanted,
      has_address: user !== undefined && user.email !== '',
      month,
      counts: counted ? { sent: sum('sent'), waiting: sum('waiting', 'sending'), refused: sum('refused') } : null,
    }
  }

  serve(router, api.usage.statementEmails, ({ person }) => view(person))

  serve(router, api.usage.setStatementEmails, async (call) => {
    const { person, body } = call
    await store.write(async (trx) => {
      await call.admitAgain(trx)
      await setStatementsWanted(trx, person.id, body.wanted)
      const detail = `statement emails ${body.wanted ? 'on' : 'off'}`
      await recordAudit(trx, auditEvent(clock, call, 'user.update-self', `user ${person.id}`, detail))
    })
    return view(person)
  })
}
