import type { Secrets } from '../../lib/secrets/secrets.ts'
import type { ImportedSums, ImportKind, JournalRow } from '../../store/imports/journal.ts'
import { type NumberedTable, newIds } from '../../store/imports/target.ts'
import type { Db, Trx } from '../../store/store.ts'
import type { Findings } from '../findings.ts'
import type { Program } from '../program.ts'
import type { SourceDatabase } from '../sources/source-database.ts'

/** The input for copying any kind of row. */
export interface Work {
  readonly source: SourceDatabase
  readonly program: Program
  readonly secrets: Secrets
  readonly findings: Findings
  readonly now: number
  /** For reading the data of this installation. */
  readonly db: Db
  /** For writing; undefined in a dry run, which writes nothing. */
  readonly trx: Trx | undefined
  readonly importId: number
  /** True if the installation was empty. */
  readonly isFresh: boolean
  /** True if rows keep the ids of the source. This requires an empty installation and numeric ids in the source. */
  readonly keepsIds: boolean
  /**
   * The root account of an empty installation, to which the source's root account is copied; undefined if the
   * installation is in use.
   */
  readonly root: { id: number; hasAccessToken: boolean } | undefined
  /** The suffix that is added to a copied name if the name is already taken. */
  readonly suffix: string
  /** The rows of one kind that earlier runs wrote, by id in the source. */
  journal(kind: ImportKind): Promise<Map<string, JournalRow>>
  /**
   * The amounts by which the counts and totals of this installation are expected to differ from those of the source.
   * `findings` has the reasons.
   */
  readonly corrections: ImportedSums
}

/** The id in this installation of each row of the source. */
export type IdMap = ReadonlyMap<number, number>

/** Sums that are all 0. */
export const noSums = (): ImportedSums => ({
  users: 0,
  userQuota: 0,
  userUsed: 0,
  requests: 0,
  tokens: 0,
  tokenQuota: 0,
  tokenUsed: 0,
  channels: 0,
  channelUsed: 0,
  codesUnused: 0,
  codesDisabled: 0,
  codesUsed: 0,
})

/**
 * Assigns an id to each row of the source. If `keepsIds` is true, a row keeps its id unless the id is taken. All other
 * rows get new ids.
 */
export async function assignIds(
  { trx, keepsIds }: Work,
  table: NumberedTable,
  sourceIds: readonly number[],
  taken: ReadonlySet<number>,
): Promise<Map<number, number>> {
  const keeps = (id: number) => keepsIds && id > 0 && !taken.has(id)
  const others = sourceIds.filter((id) => !keeps(id))
  const fresh = trx && others.length > 0 ? await newIds(trx, table, others.length) : others.map((_, at) => -1 - at)
  const ids = new Map(sourceIds.filter(keeps).map((id) => [id, id]))
  for (const [at, id] of others.entries()) ids.set(id, fresh[at] ?? 0)
  return ids
}

/**
 * The form in which names are compared. Two names with the same form cannot both exist. In an installation that is in
 * use, case is ignored.
 */
export const nameKey = (name: string, isFresh: boolean) => (isFresh ? name : name.toLowerCase())

/**
 * Returns a free name and marks it as taken. It is the name itself, or the name with the suffix and, from the second
 * attempt on, a number.
 */
export function freeName(name: string, suffix: string, taken: Set<string>, isFresh: boolean): string {
  let free = name
  for (let number = 1; taken.has(nameKey(free, isFresh)); number++)
    free = `${name}${suffix}${number === 1 ? '' : number}`
  taken.add(nameKey(free, isFresh))
  return free
}
