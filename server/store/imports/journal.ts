import { type Insertable, type Selectable, sql, type Updateable } from 'kysely'
import type { ImportRowsTable, ImportsTable } from '../schema/import-tables.ts'
import type { Db, Store, Trx } from '../store.ts'
import { type BulkColumns, bulkInsert } from './bulk-insert.ts'

/** The kinds of rows that a source can have. */
export type ImportKind = 'user' | 'token' | 'channel' | 'code' | 'option'

export type ImportRow = Selectable<ImportsTable>
export type JournalRow = Selectable<ImportRowsTable>

/** All imports from a program, newest first. */
export async function importsOf(db: Db, program: string): Promise<ImportRow[]> {
  const rows = await db.selectFrom('imports').selectAll().where('program', '=', program).orderBy('id', 'desc').execute()
  return rows.map((row) => ({ ...row, is_fresh: Boolean(row.is_fresh) }))
}

export async function beginImport(trx: Trx, row: Insertable<ImportsTable>): Promise<number> {
  return (await trx.insertInto('imports').values(row).returning('id').executeTakeFirstOrThrow()).id
}

export async function updateImport(trx: Trx, id: number, fields: Updateable<ImportsTable>): Promise<void> {
  await trx.updateTable('imports').set(fields).where('id', '=', id).execute()
}

/** Adds the figures of a batch of log rows to an import. */
export async function advanceLog(
  trx: Trx,
  id: number,
  step: { logId: number; rows: number; charges: number; quota: number; now: number },
): Promise<void> {
  await trx
    .updateTable('imports')
    .set((eb) => ({
      log_id: step.logId,
      log_rows: eb('log_rows', '+', step.rows),
      charge_rows: eb('charge_rows', '+', step.charges),
      charge_quota: eb('charge_quota', '+', step.quota),
      updated_at: step.now,
    }))
    .where('id', '=', id)
    .execute()
}

export async function importById(db: Db, id: number): Promise<ImportRow> {
  return db.selectFrom('imports').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
}

/**
 * True if the transaction that began an import was committed. PostgreSQL may still be working on a transaction whose
 * connection was lost, so this waits until it has ended.
 */
export function wasCommitted(store: Pick<Store, 'write'>, id: number): Promise<boolean> {
  return store.write(async (trx) => {
    await sql`lock table imports in share mode`.execute(trx)
    return (await trx.selectFrom('imports').select('id').where('id', '=', id).executeTakeFirst()) !== undefined
  })
}

/** The journal entries of the rows of one kind, with their new ids. They are keyed by their ids in the source. */
export async function journalOf(db: Db, importId: number, kind: ImportKind): Promise<Map<string, JournalRow>> {
  const rows = await db
    .selectFrom('import_rows')
    .selectAll()
    .where('import_id', '=', importId)
    .where('kind', '=', kind)
    .execute()
  return new Map(rows.map((row) => [row.source_id, row]))
}

const columns: BulkColumns = [
  ['import_id', 'integer'],
  ['kind', 'text'],
  ['source_id', 'text'],
  ['target_id', 'integer'],
  ['mark', 'text'],
  ['quota', 'integer'],
  ['used', 'integer'],
  ['requests', 'integer'],
]

/** Records rows that were just written. */
export async function recordRows(trx: Trx, rows: readonly JournalRow[]): Promise<void> {
  await bulkInsert(
    trx,
    'import_rows',
    columns,
    rows.map((row) => [
      row.import_id,
      row.kind,
      row.source_id,
      row.target_id,
      row.mark,
      row.quota,
      row.used,
      row.requests,
    ]),
  )
}

/** Records the figures of a row that was imported again. */
export async function recordFigures(
  trx: Trx,
  { import_id, kind, source_id, quota, used, requests }: JournalRow,
): Promise<void> {
  await trx
    .updateTable('import_rows')
    .set({ quota, used, requests })
    .where('import_id', '=', import_id)
    .where('kind', '=', kind)
    .where('source_id', '=', source_id)
    .execute()
}

/** Sums over the imported rows, as they are now stored in this installation. */
export interface ImportedSums {
  users: number
  userQuota: number
  userUsed: number
  requests: number
  tokens: number
  tokenQuota: number
  tokenUsed: number
  channels: number
  channelUsed: number
  codesUnused: number
  codesDisabled: number
  codesUsed: number
}

/** Computes the sums over the rows in the journal of an import. */
export async function importedSums(db: Db, importId: number): Promise<ImportedSums> {
  const { rows } = await sql<ImportedSums>`
    with j as (select kind, target_id from import_rows where import_id = ${importId})
    select * from
      (select count(*) as users, cast(coalesce(sum(quota), 0) as bigint) as "userQuota",
        cast(coalesce(sum(used_quota), 0) as bigint) as "userUsed",
        cast(coalesce(sum(request_count), 0) as bigint) as requests
        from users u join j on j.kind = 'user' and j.target_id = u.id) us,
      (select count(*) as tokens, cast(coalesce(sum(remain_quota), 0) as bigint) as "tokenQuota",
        cast(coalesce(sum(used_quota), 0) as bigint) as "tokenUsed"
        from tokens t join j on j.kind = 'token' and j.target_id = t.id) ts,
      (select count(*) as channels, cast(coalesce(sum(used_quota), 0) as bigint) as "channelUsed"
        from channels c join j on j.kind = 'channel' and j.target_id = c.id) cs,
      (select coalesce(sum(case when status = 1 then 1 else 0 end), 0) as "codesUnused",
        coalesce(sum(case when status = 2 then 1 else 0 end), 0) as "codesDisabled",
        coalesce(sum(case when status = 3 then 1 else 0 end), 0) as "codesUsed"
        from redemptions r join j on j.kind = 'code' and j.target_id = r.id) rs`.execute(db)
  const row = rows[0]
  if (!row) throw new Error('no sums')
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => [name, Number(value)]),
  ) as unknown as ImportedSums
}
