import { textOf, wholeTypes } from './fields.ts'
import { ImportFailed } from './import-failed.ts'
import { columnType, isKey, type SourceDatabase, tableName } from './sources/source-database.ts'

const tables = ['users', 'tokens', 'channels', 'redemptions', 'logs'] as const

/**
 * Throws ImportFailed if rows cannot be told apart by their ids: if an id is missing, is not a whole number, occurs
 * twice or is too large to be represented exactly. Tables are read in the order of their ids, so such rows would be
 * lost. Databases that people copied or edited with other tools have them.
 */
export async function refuseIds(source: SourceDatabase): Promise<void> {
  for (const table of tables) if (source.tables.get(table)?.has('id')) await refuseIdsOf(source, table)
}

async function refuseIdsOf(source: SourceDatabase, table: string): Promise<void> {
  const from = tableName(source, table)
  const one = async (rest: string) => {
    const [row] = await source.query(`select cast("id" as char(30)) as id from ${from} ${rest} limit 1`)
    return row && textOf(row['id']).trim()
  }
  const type = columnType(source, table, 'id')
  const isSqlite = source.dialect === 'sqlite'
  const isWhole = wholeTypes.test(type)
  if (!isSqlite && !isWhole && !/^(?:decimal|numeric)/.test(type))
    throw new ImportFailed(
      `The column id of the table ${table} has the type ${type}, not a whole number. Change its type in the source, and import again.`,
    )
  // In SQLite, any column may contain text, which is sorted after all numbers, and fractions. Numbers that are too large
  // are reported below.
  const orFraction = `or ("id" between ${Number.MIN_SAFE_INTEGER} and ${Number.MAX_SAFE_INTEGER} and "id" <> ${isSqlite ? 'cast("id" as integer)' : 'floor("id")'})`
  const orOther = isSqlite ? `or "id" >= '' ${orFraction}` : isWhole ? '' : orFraction
  if ((await one(`where "id" is null ${orOther}`)) !== undefined)
    throw new ImportFailed(
      `The table ${table} has a row without an id, or with an id that is not a whole number. Correct or delete this row in the source, and import again.`,
    )
  const large = await one(`where "id" > ${Number.MAX_SAFE_INTEGER} or "id" <= ${Number.MIN_SAFE_INTEGER}`)
  if (large !== undefined)
    throw new ImportFailed(
      `The table ${table} has a row with the id ${large}, which is too large. Correct or delete this row in the source, and import again.`,
    )
  if (isKey(source, table, 'id')) return
  const twice = await one('group by "id" having count(*) > 1')
  if (twice !== undefined)
    throw new ImportFailed(
      `The table ${table} has several rows with the id ${twice}. Correct or delete these rows in the source, and import again.`,
    )
}
