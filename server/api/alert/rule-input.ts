import type * as z from 'zod/mini'
import { alertCondition } from '../../../contract/alert-conditions.ts'
import type { AlertRule, createAlertRuleBody, updateAlertRuleBody } from '../../../contract/api/alert.ts'
import { ApiFailure } from '../../http/api-failure.ts'
import { destinationIds } from '../../jobs/evaluate-alerts.ts'
import { timeZone } from '../../lib/time-zone.ts'
import { alertDestinations } from '../../store/accounts/alert-destinations.ts'
import type { AlertRuleRow, AlertStateRow } from '../../store/accounts/alert-rules.ts'
import type { Trx } from '../../store/store.ts'

type NewRule = z.output<typeof createAlertRuleBody>
type ChangedRule = z.output<typeof updateAlertRuleBody>

/** A rule as its owner sees it. */
export function ruleView(row: AlertRuleRow, states: readonly AlertStateRow[]): AlertRule {
  const { owner_id: _, ...fields } = row
  return {
    ...fields,
    enabled: Boolean(row.enabled),
    send_resolved: Boolean(row.send_resolved),
    destinations: destinationIds(row),
    firing: states
      .filter(({ rule_id }) => rule_id === row.id)
      .map(({ target, name, since, value }) => ({ target, name, since, value })),
  }
}

/** The row of a new rule. */
export async function newRule(
  trx: Trx,
  { ownerId, now }: { ownerId: number; now: number },
  body: NewRule,
): Promise<Omit<AlertRuleRow, 'id'>> {
  const { whose } = { whose: ownerId === 0 ? 'installation' : 'own' }
  if (alertCondition(body.kind).for !== whose)
    throw new ApiFailure(
      ownerId === 0 ? 'kind is a condition for rules of users.' : 'kind is a condition for rules of the installation.',
    )
  const row = { ...body, owner_id: ownerId, created_time: now, destinations: JSON.stringify(body.destinations) }
  await checkRule(trx, row, body.destinations)
  return row
}

/** The columns that an update changes. */
export async function changedRule(
  trx: Trx,
  row: AlertRuleRow,
  { id: _, destinations, ...fields }: ChangedRule,
): Promise<Partial<AlertRuleRow>> {
  const sent = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
  const changed: Partial<AlertRuleRow> = {
    ...sent,
    ...(destinations && { destinations: JSON.stringify(destinations) }),
  }
  await checkRule(trx, { ...row, ...changed }, destinations ?? [])
  return changed
}

/** The columns that determine when a rule fires. If one of them changes, the state of the rule is reset. */
export const measuringColumns = ['enabled', 'threshold', 'minutes', 'min_calls', 'channel_id'] as const

async function checkRule(trx: Trx, rule: Omit<AlertRuleRow, 'id'>, destinations: readonly number[]): Promise<void> {
  const { unit, channel } = alertCondition(rule.kind)
  if (unit !== 'none' && rule.threshold <= 0) throw new ApiFailure('threshold must be greater than 0.')
  if (unit === 'percent' && rule.threshold >= 100) throw new ApiFailure('threshold must be less than 100 percent.')
  if (rule.channel_id !== 0 && !channel) throw new ApiFailure('channel_id is not allowed for this condition.')
  if (!timeZone(rule.time_zone)) throw new ApiFailure('time_zone is not a time zone such as Europe/Berlin.')
  if ((rule.quiet_start === '') !== (rule.quiet_end === ''))
    throw new ApiFailure('quiet_start and quiet_end must both be set, or both be empty.')
  const known = new Set((await alertDestinations(trx, rule.owner_id)).map(({ id }) => id))
  if (!destinations.every((id) => known.has(id))) throw new ApiFailure('destinations has an id that does not exist.')
}
