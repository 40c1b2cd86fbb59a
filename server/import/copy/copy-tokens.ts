import { createHash } from 'node:crypto'
import { storedKeyHash } from '../../lib/secrets/token-key.ts'
import { bookChange } from '../../store/imports/books.ts'
import { type BulkColumns, bulkInsert } from '../../store/imports/bulk-insert.ts'
import { type JournalRow, recordFigures, recordRows } from '../../store/imports/journal.ts'
import { reserveIds, takenIds, takenTexts } from '../../store/imports/target.ts'
import type { Trx } from '../../store/store.ts'
import { counted, integer, isDeleted, text } from '../fields.ts'
import { limitColumns } from '../rows/limit-columns.ts'
import { readToken, type TokenDraft } from '../rows/token-row.ts'
import { pages } from '../sources/source-database.ts'
import { assignIds, type IdMap, type Work } from './work.ts'

const columns: BulkColumns = [
  ['id', 'integer'],
  ['user_id', 'integer'],
  ['key', 'text'],
  ['key_hash', 'text'],
  ['status', 'integer'],
  ['name', 'text'],
  ['created_time', 'integer'],
  ['accessed_time', 'integer'],
  ['expired_time', 'integer'],
  ['remain_quota', 'integer'],
  ['unlimited_quota', 'boolean'],
  ['used_quota', 'integer'],
  ['models', 'text'],
  ['subnet', 'text'],
  ['group', 'text'],
  ['granted_quota', 'integer'],
  ['unlogged_quota', 'integer'],
  ...limitColumns,
]

/** Identifies a token in the journal of imported rows without revealing its key. */
export const tokenMark = (key: string) => createHash('sha256').update(key).digest('hex').slice(0, 16)

/**
 * Copies the tokens that earlier runs did not copy. For the others, adds the changes of balance and usage since the
 * last run.
 */
export async function copyTokens(work: Work, users: IdMap): Promise<{ groups: Set<string>; added: number }> {
  const { source, trx, journal, findings, secrets } = work
  const known = await journal('token')
  const taken = await takenTexts(work.db, 'tokens', 'key_hash')
  const ids = await plannedIds(work, known)
  const groups = new Set<string>()
  const seen = new Set<string>()
  let added = 0
  for await (const rows of pages(source, 'tokens')) {
    const fresh: TokenDraft[] = []
    const values: unknown[][] = []
    for (const row of rows) {
      const draft = readToken(row, work.program, findings)
      if (isDeleted(row)) continue
      const before = known.get(text(row, 'id'))
      const hash = draft ? storedKeyHash(draft.key, secrets) : ''
      const problem =
        draft === undefined ? 'no key' : before ? undefined : refusal(draft, users, taken.has(hash) || seen.has(hash))
      if (draft === undefined || problem !== undefined) {
        if (draft !== undefined)
          findings.leave(
            { kind: 'token', id: `token ${draft.id}`, reason: 'left out', data: { ...draft, key: '' } },
            problem ?? '',
          )
        work.corrections.tokens -= 1
        work.corrections.tokenQuota -= counted(row, 'remain_quota')
        work.corrections.tokenUsed -= counted(row, 'used_quota')
        continue
      }
      work.corrections.tokenQuota += draft.remain - counted(row, 'remain_quota')
      work.corrections.tokenUsed += draft.used - counted(row, 'used_quota')
      if (draft.unlimited && draft.remain !== counted(row, 'remain_quota'))
        findings.add(
          'amounts',
          'The balance of an unlimited token is negative, which has no meaning. It is set to 0.',
          `token ${draft.id}`,
        )
      if (draft.group !== '') groups.add(draft.group)
      seen.add(hash)
      if (before) {
        await takeOver(trx, before, draft)
        continue
      }
      added++
      fresh.push(draft)
      values.push(valuesOf(work, draft, hash, { id: ids.get(draft.id) ?? 0, userId: users.get(draft.userId) ?? 0 }))
    }
    if (!trx) continue
    await bulkInsert(trx, 'tokens', columns, values)
    await recordRows(
      trx,
      fresh.map((draft) => journalRow(work, draft, ids.get(draft.id) ?? 0)),
    )
  }
  return { groups, added }
}

/** The reason why a token is not copied; undefined if it is copied. */
function refusal({ userId }: TokenDraft, users: IdMap, isTaken: boolean): string | undefined {
  if (!users.has(userId)) return 'The owner of the token does not exist. The token is skipped.'
  return isTaken
    ? 'This installation already has a token with this key. The one from the source is skipped.'
    : undefined
}

async function plannedIds(work: Work, known: ReadonlyMap<string, JournalRow>): Promise<Map<number, number>> {
  const { source, db, trx, keepsIds, findings } = work
  const all: number[] = []
  for await (const rows of pages(source, 'tokens', { limit: 5000, columns: ['id'] }))
    for (const row of rows) if (!known.has(text(row, 'id'))) all.push(integer(row, 'id'))
  if (trx && keepsIds)
    await reserveIds(
      trx,
      'tokens',
      all.reduce((most, each) => Math.max(most, each), 0),
    )
  const ids = await assignIds(work, 'tokens', all, await takenIds(db, 'tokens'))
  for (const [id, target] of ids)
    if (keepsIds && id !== target)
      findings.add('tokens', 'The id of the token is already taken here. The token gets another one.', `token ${id}`)
  return ids
}

async function takeOver(trx: Trx | undefined, before: JournalRow, draft: TokenDraft): Promise<void> {
  const change = { quota: draft.remain - before.quota, used: draft.used - before.used, requests: 0 }
  if (!trx || (change.quota === 0 && change.used === 0)) return
  await bookChange(trx, 'tokens', before.target_id, change)
  await recordFigures(trx, { ...before, quota: draft.remain, used: draft.used })
}

function valuesOf(
  { secrets }: Work,
  draft: TokenDraft,
  hash: string,
  { id, userId }: { id: number; userId: number },
): unknown[] {
  return [
    id,
    userId,
    secrets.seal(draft.key, 'token'),
    hash,
    draft.status,
    draft.name,
    draft.createdTime,
    draft.accessedTime,
    draft.expiredTime,
    draft.remain,
    draft.unlimited,
    draft.used,
    draft.models,
    draft.subnet,
    draft.group,
    draft.remain + draft.used,
    draft.used,
    ...draft.limits,
  ]
}

function journalRow({ importId }: Work, draft: TokenDraft, target: number): JournalRow {
  return {
    import_id: importId,
    kind: 'token',
    source_id: String(draft.id),
    target_id: target,
    mark: tokenMark(draft.key),
    quota: draft.remain,
    used: draft.used,
    requests: 0,
  }
}
