import type * as z from 'zod/mini'
import type { updateAlertRuleBody } from '../../../contract/api/alert.ts'
import { ApiFailure } from '../../http/api-failure.ts'
import { forgetAlertStates, lockAlertRule, updateAlertRule } from '../../store/accounts/alert-rules.ts'
import { recordAudit } from '../../store/installation/audit.ts'
import type { Trx } from '../../store/store.ts'
import { type Actor, auditEvent, describeChange } from '../audit-event.ts'
import type { ApiDeps } from '../deps.ts'
import { changedRule, measuringColumns } from './rule-input.ts'

/**
 * Changes one of the owner's alert rules and writes an audit row. Throws ApiFailure if the owner has no rule with this
 * id.
 */
export async function changeRule(
  trx: Trx,
  { clock }: Pick<ApiDeps, 'clock'>,
  actor: Actor,
  owner: number,
  body: z.output<typeof updateAlertRuleBody>,
): Promise<void> {
  const { id } = body
  const rule = await lockAlertRule(trx, owner, id)
  if (!rule) throw new ApiFailure('This alert rule does not exist.')
  const fields = await changedRule(trx, rule, body)
  await updateAlertRule(trx, id, fields)
  const isOther = measuringColumns.some(
    (column) => fields[column] !== undefined && Number(fields[column]) !== Number(rule[column]),
  )
  if (isOther) await forgetAlertStates(trx, id)
  const detail = describeChange(rule, fields, ['name', 'enabled', 'threshold'])
  await recordAudit(trx, auditEvent(clock, actor, 'alert.update-rule', `rule ${id}`, detail))
}
