import { type Insertable, type Selectable, sql, type Updateable } from 'kysely'
import type { VirtualPrice, VirtualStep } from '../../../contract/api/virtual-model.ts'
import { type StepFailure, stepFailures } from '../../../contract/step-failures.ts'
import type { VirtualModelsTable } from '../schema/virtual-model-tables.ts'
import { needsRowLocks } from '../statements/conditions.ts'
import type { Db, Trx } from '../store.ts'

export type VirtualModelRow = Selectable<VirtualModelsTable>

/** All virtual models, by name. */
export function virtualModelRows(db: Db): Promise<VirtualModelRow[]> {
  return db.selectFrom('virtual_models').selectAll().orderBy('name').execute()
}

/**
 * All virtual models, with the table locked against other changes until the transaction ends. Otherwise, two changes
 * that are each valid could together make virtual models refer to each other in a cycle.
 */
export async function lockVirtualModels(trx: Trx): Promise<VirtualModelRow[]> {
  if (needsRowLocks(trx)) await sql`lock table virtual_models in share row exclusive mode`.execute(trx)
  return virtualModelRows(trx)
}

export function addVirtualModel(trx: Trx, values: Insertable<VirtualModelsTable>): Promise<VirtualModelRow> {
  return trx.insertInto('virtual_models').values(values).returningAll().executeTakeFirstOrThrow()
}

export function updateVirtualModel(
  trx: Trx,
  id: number,
  fields: Updateable<VirtualModelsTable>,
): Promise<VirtualModelRow> {
  return trx.updateTable('virtual_models').set(fields).where('id', '=', id).returningAll().executeTakeFirstOrThrow()
}

/** Deletes a virtual model; returns its name, or undefined if there is none with this id. */
export function deleteVirtualModel(trx: Trx, id: number): Promise<{ name: string } | undefined> {
  return trx.deleteFrom('virtual_models').where('id', '=', id).returning('name').executeTakeFirst()
}

/** The parts of a virtual model that are stored as text. */
export interface VirtualParts {
  steps: VirtualStep[]
  failures: StepFailure[]
  price: VirtualPrice | null
  groups: string[]
}

/** The parts as columns of a row. */
export function virtualTexts(parts: Partial<VirtualParts>): Partial<Record<keyof VirtualParts, string>> {
  const { steps, failures, price, groups } = parts
  return {
    ...(steps && { steps: JSON.stringify(steps) }),
    ...(failures && { failures: stepFailures.filter((each) => failures.includes(each)).join(',') }),
    ...(price !== undefined && { price: price === null ? '' : JSON.stringify(price) }),
    ...(groups && { groups: [...new Set(groups)].join(',') }),
  }
}

/** The parts in a row. The texts are not validated, because only `virtualTexts` writes these columns. */
export function virtualParts({ steps, failures, price, groups }: Record<keyof VirtualParts, string>): VirtualParts {
  const names = failures.split(',')
  return {
    steps: JSON.parse(steps) as VirtualStep[],
    failures: stepFailures.filter((each) => names.includes(each)),
    price: price === '' ? null : (JSON.parse(price) as VirtualPrice),
    groups: groups === '' ? [] : groups.split(','),
  }
}

/** The names of the enabled virtual models that a group may use. */
export async function virtualNamesOf(db: Db, group: string): Promise<string[]> {
  const rows = await db.selectFrom('virtual_models').select(['name', 'groups']).where('enabled', '=', true).execute()
  return rows.filter(({ groups }) => groups === '' || groups.split(',').includes(group)).map(({ name }) => name)
}
