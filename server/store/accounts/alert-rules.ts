import { type Insertable, type Selectable, sql, type Updateable } from 'kysely'
import { userStatus } from '../../../contract/statuses.ts'
import type { AlertRulesTable, AlertStatesTable } from '../schema/alert-tables.ts'
import { needsRowLocks } from '../statements/conditions.ts'
import type { Db, Trx } from '../store.ts'

export type AlertRuleRow = Selectable<AlertRulesTable>
export type AlertStateRow = Selectable<AlertStatesTable>

/** All rules of a user, or of the installation (0), oldest first. */
export function alertRules(db: Db, ownerId: number): Promise<AlertRuleRow[]> {
  return db.selectFrom('alert_rules').selectAll().where('owner_id', '=', ownerId).orderBy('id').execute()
}

/** The rule with this id, with its row locked; undefined if there is none, or if it belongs to another owner. */
export function lockAlertRule(trx: Trx, ownerId: number, id: number): Promise<AlertRuleRow | undefined> {
  return trx
    .selectFrom('alert_rules')
    .selectAll()
    .where('id', '=', id)
    .where('owner_id', '=', ownerId)
    .$if(needsRowLocks(trx), (query) => query.forUpdate())
    .executeTakeFirst()
}

export function addAlertRule(trx: Trx, values: Insertable<AlertRulesTable>): Promise<AlertRuleRow> {
  return trx.insertInto('alert_rules').values(values).returningAll().executeTakeFirstOrThrow()
}

export async function updateAlertRule(trx: Trx, id: number, fields: Updateable<AlertRulesTable>): Promise<void> {
  if (Object.keys(fields).length > 0) await trx.updateTable('alert_rules').set(fields).where('id', '=', id).execute()
}

/**
 * Deletes a rule of the given owner, together with its states. Returns its name. The rule's messages stay in the
 * history.
 */
export function deleteAlertRule(trx: Trx, ownerId: number, id: number): Promise<{ name: string } | undefined> {
  return trx
    .deleteFrom('alert_rules')
    .where('id', '=', id)
    .where('owner_id', '=', ownerId)
    .returning('name')
    .executeTakeFirst()
}

/** Deletes all rules, destinations and messages of an account. */
export async function deleteAlertsOf(trx: Trx, ownerId: number): Promise<void> {
  for (const table of ['alert_rules', 'alert_destinations', 'alert_events'] as const)
    await trx.deleteFrom(table).where('owner_id', '=', ownerId).execute()
}

/**
 * The number of rules or destinations that an owner has. The owner's account is locked, so that the number cannot
 * change.
 */
export async function countAlertRows(
  trx: Trx,
  table: 'alert_rules' | 'alert_destinations',
  ownerId: number,
): Promise<number> {
  if (needsRowLocks(trx))
    await (ownerId === 0
      ? sql`select pg_advisory_xact_lock(7041977)`.execute(trx)
      : trx.selectFrom('users').select('id').where('id', '=', ownerId).forUpdate().execute())
  const row = await trx
    .selectFrom(table)
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('owner_id', '=', ownerId)
    .executeTakeFirstOrThrow()
  return Number(row.count)
}

/** The targets for which an owner's rules are firing, oldest first. */
export function alertStatesOf(db: Db, ownerId: number): Promise<AlertStateRow[]> {
  return db
    .selectFrom('alert_states')
    .innerJoin('alert_rules', 'alert_rules.id', 'alert_states.rule_id')
    .selectAll('alert_states')
    .where('alert_rules.owner_id', '=', ownerId)
    .orderBy('alert_states.since')
    .orderBy('alert_states.target')
    .execute()
}

/** The states of the given rules. */
export function alertStates(db: Db, ruleIds: readonly number[]): Promise<AlertStateRow[]> {
  if (ruleIds.length === 0) return Promise.resolve([])
  return db
    .selectFrom('alert_states')
    .selectAll()
    .where('rule_id', 'in', [...ruleIds])
    .execute()
}

/** Rules that are switched on, in id order. Rules of accounts that are not enabled are omitted. */
export function activeAlertRules(db: Db, range: { after: number; limit: number }): Promise<AlertRuleRow[]> {
  return db
    .selectFrom('alert_rules')
    .leftJoin('users', 'users.id', 'alert_rules.owner_id')
    .selectAll('alert_rules')
    .where('alert_rules.id', '>', range.after)
    .where('alert_rules.enabled', '=', true)
    .where((eb) => eb.or([eb('alert_rules.owner_id', '=', 0), eb('users.status', '=', userStatus.enabled)]))
    .orderBy('alert_rules.id')
    .limit(range.limit)
    .execute()
}

/** Deletes the states of a rule, so that it fires again if its condition still applies. */
export async function forgetAlertStates(trx: Trx, ruleId: number): Promise<void> {
  await trx.deleteFrom('alert_states').where('rule_id', '=', ruleId).execute()
}

/**
 * Records that a rule is firing for a target. False if that is already recorded, or if the rule was deleted or switched
 * off.
 */
export async function beginAlertState(trx: Trx, state: AlertStateRow): Promise<boolean> {
  // The rule is locked, so that it cannot be deleted in the meantime.
  const rule = await trx
    .selectFrom('alert_rules')
    .select('id')
    .where('id', '=', state.rule_id)
    .where('enabled', '=', true)
    .$if(needsRowLocks(trx), (query) => query.forUpdate())
    .executeTakeFirst()
  if (!rule) return false
  const added = await trx
    .insertInto('alert_states')
    .values(state)
    .onConflict((conflict) => conflict.columns(['rule_id', 'target']).doNothing())
    .returning('rule_id')
    .executeTakeFirst()
  return added !== undefined
}

/** Changes a state. False if it no longer exists, or if another process has changed it since it was read. */
export async function changeAlertState(
  trx: Trx,
  { rule_id, target, sent_at }: Pick<AlertStateRow, 'rule_id' | 'target' | 'sent_at'>,
  fields: Partial<Pick<AlertStateRow, 'name' | 'value' | 'clear_since' | 'sent_at'>>,
): Promise<boolean> {
  const changed = await trx
    .updateTable('alert_states')
    .set(fields)
    .where('rule_id', '=', rule_id)
    .where('target', '=', target)
    .where('sent_at', '=', sent_at)
    .executeTakeFirst()
  return changed.numUpdatedRows > 0n
}

/** Ends a state. False if it no longer exists. */
export async function endAlertState(
  trx: Trx,
  { rule_id, target }: Pick<AlertStateRow, 'rule_id' | 'target'>,
): Promise<boolean> {
  const ended = await trx
    .deleteFrom('alert_states')
    .where('rule_id', '=', rule_id)
    .where('target', '=', target)
    .executeTakeFirst()
  return ended.numDeletedRows > 0n
}
