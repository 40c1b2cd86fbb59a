import { redemptionStatus } from '../../../contract/statuses.ts'
import { type BulkColumns, bulkInsert } from '../../store/imports/bulk-insert.ts'
import { recordRows } from '../../store/imports/journal.ts'
import { reserveIds, takenIds, takenTexts } from '../../store/imports/target.ts'
import { integer, isDeleted, text } from '../fields.ts'
import { type CodeDraft, readCode } from '../rows/code-row.ts'
import { pages, type SourceRow } from '../sources/source-database.ts'
import { assignIds, type IdMap, type Work } from './work.ts'

const columns: BulkColumns = [
  ['id', 'integer'],
  ['user_id', 'integer'],
  ['key', 'text'],
  ['status', 'integer'],
  ['name', 'text'],
  ['quota', 'integer'],
  ['created_time', 'integer'],
  ['redeemed_time', 'integer'],
  ['redeemed_user_id', 'integer'],
  ['expired_time', 'integer'],
]

/** The name of the field of ImportedSums that counts codes with this status. */
function sumOf(status: number): 'codesUnused' | 'codesDisabled' | 'codesUsed' | undefined {
  if (status === redemptionStatus.unused) return 'codesUnused'
  if (status === redemptionStatus.disabled) return 'codesDisabled'
  return status === redemptionStatus.used ? 'codesUsed' : undefined
}

/** Copies the redemption codes that earlier runs did not copy. */
export async function copyCodes(work: Work, users: IdMap): Promise<{ added: number }> {
  const { source, trx, journal, findings } = work
  if (!source.tables.has('redemptions')) return { added: 0 }
  const known = await journal('code')
  const taken = await takenTexts(work.db, 'redemptions', 'key')
  const ids = await plannedIds(work, new Set(known.keys()))
  let added = 0
  for await (const rows of pages(source, 'redemptions')) {
    const fresh: CodeDraft[] = []
    for (const row of rows) {
      const draft = readCode(row, findings)
      if (isDeleted(row)) continue
      if (known.has(text(row, 'id'))) {
        // The code may have been redeemed in the source since the earlier run. Its value is then part of the user's
        // balance, so the code is marked as used here.
        const here = known.get(text(row, 'id'))
        if (trx && here && draft?.status === redemptionStatus.used)
          await trx
            .updateTable('redemptions')
            .set({ status: draft.status, redeemed_time: draft.redeemedTime })
            .where('id', '=', here.target_id)
            .where('status', '<>', redemptionStatus.used)
            .execute()
        continue
      }
      const isTaken = draft !== undefined && taken.has(draft.key)
      if (isTaken)
        findings.add(
          'codes',
          'This installation already has the code. The one from the source is skipped.',
          `code ${draft.id}`,
        )
      correct(work, row, isTaken ? undefined : draft)
      if (draft === undefined || isTaken) continue
      taken.set(draft.key, draft.id)
      fresh.push(draft)
    }
    added += fresh.length
    if (!trx) continue
    await bulkInsert(
      trx,
      'redemptions',
      columns,
      fresh.map((draft) => valuesOf(draft, ids, users)),
    )
    await recordRows(
      trx,
      fresh.map((draft) => ({
        import_id: work.importId,
        kind: 'code',
        source_id: String(draft.id),
        target_id: ids.get(draft.id) ?? 0,
        mark: '',
        quota: draft.quota,
        used: 0,
        requests: draft.status,
      })),
    )
  }
  return { added }
}

function correct({ corrections }: Work, row: SourceRow, draft: CodeDraft | undefined): void {
  const before = sumOf(integer(row, 'status', redemptionStatus.unused))
  const after = draft && sumOf(draft.status)
  if (before) corrections[before] -= 1
  if (after) corrections[after] += 1
}

async function plannedIds(work: Work, known: ReadonlySet<string>): Promise<Map<number, number>> {
  const all: number[] = []
  for await (const rows of pages(work.source, 'redemptions', { limit: 5000, columns: ['id'] }))
    for (const row of rows) if (!known.has(text(row, 'id'))) all.push(integer(row, 'id'))
  const most = all.reduce((high, each) => Math.max(high, each), 0)
  if (work.trx && work.isFresh) await reserveIds(work.trx, 'redemptions', most)
  return assignIds(work, 'redemptions', all, await takenIds(work.db, 'redemptions'))
}

function valuesOf(draft: CodeDraft, ids: IdMap, users: IdMap): unknown[] {
  return [
    ids.get(draft.id) ?? 0,
    users.get(draft.userId) ?? 0,
    draft.key,
    draft.status,
    draft.name,
    draft.quota,
    draft.createdTime,
    draft.redeemedTime,
    users.get(draft.redeemedBy) ?? 0,
    draft.expiredTime,
  ]
}
