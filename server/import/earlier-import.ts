import { type ImportRow, importsOf, journalOf } from '../store/imports/journal.ts'
import type { Db } from '../store/store.ts'
import { tokenMark } from './copy/copy-tokens.ts'
import { seconds, text, trimmed } from './fields.ts'
import type { Program } from './program.ts'
import type { SourceDatabase, SourceRow } from './sources/source-database.ts'

/** The maximum number of rows per table that are compared with the journal of imported rows. */
const compared = 200

/** The text by which the journal of imported rows identifies a row of each kind. */
const marks: Readonly<Record<'user' | 'token' | 'channel', { table: string; mark(row: SourceRow): string }>> = {
  user: { table: 'users', mark: (row) => trimmed(row, 'username') },
  token: { table: 'tokens', mark: (row) => tokenMark(trimmed(row, 'key').replace(/^sk-/, '')) },
  channel: { table: 'channels', mark: (row) => `${seconds(row, 'created_time')} ${trimmed(row, 'name')}` },
}

/**
 * Finds the earlier import of this source. A source has no name, and its address may change, so it is recognized by its
 * content. Of its rows whose ids are in the journal of an earlier import, most must have the name or key that the
 * journal has.
 */
export async function earlierImport(db: Db, source: SourceDatabase, program: Program): Promise<ImportRow | undefined> {
  for (const row of await importsOf(db, program.name)) {
    let same = 0
    let other = 0
    for (const kind of ['user', 'token', 'channel'] as const) {
      const journal = await journalOf(db, row.id, kind)
      const { table, mark } = marks[kind]
      for (const each of await source.page(table, { after: 0, limit: compared })) {
        const known = journal.get(text(each, 'id'))
        if (known === undefined || known.mark === '') continue
        if (known.mark === mark(each)) same++
        else other++
      }
    }
    if (same > 0 && same > other) return row
  }
  return undefined
}
