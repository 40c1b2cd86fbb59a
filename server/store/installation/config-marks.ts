import type { Db, Trx } from '../store.ts'

/** Maps each name in a section that a configuration file manages to the source that manages it. */
export async function marksOf(db: Db, section: string, names?: readonly string[]): Promise<Map<string, string>> {
  if (names?.length === 0) return new Map()
  const rows = await db
    .selectFrom('config_marks')
    .select(['name', 'source'])
    .where('section', '=', section)
    .$if(names !== undefined, (query) => query.where('name', 'in', [...(names ?? [])]))
    .execute()
  return new Map(rows.map(({ name, source }) => [name, source]))
}

const namesPerStep = 500

/**
 * Records that a source manages exactly these names of a section. A name that another source managed goes over to this
 * source. Names that are not in `names` and are managed by other sources do not change.
 */
export async function saveMarks(
  trx: Trx,
  { section, source, names }: { section: string; source: string; names: readonly string[] },
): Promise<void> {
  const marked = await marksOf(trx, section)
  const wanted = new Set(names)
  const gone = [...marked].filter(([name, by]) => by === source && !wanted.has(name)).map(([name]) => name)
  for (let start = 0; start < gone.length; start += namesPerStep)
    await trx
      .deleteFrom('config_marks')
      .where('section', '=', section)
      .where('name', 'in', gone.slice(start, start + namesPerStep))
      .execute()
  const fresh = [...wanted].filter((name) => marked.get(name) !== source)
  for (let start = 0; start < fresh.length; start += namesPerStep)
    await trx
      .insertInto('config_marks')
      .values(fresh.slice(start, start + namesPerStep).map((name) => ({ section, name, source })))
      .onConflict((conflict) => conflict.columns(['section', 'name']).doUpdateSet({ source }))
      .execute()
}
