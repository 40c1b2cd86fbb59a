import type { ConfigSection } from '../../contract/config-file.ts'
import { inEntry, type PlanContext, type PlannedChange, refuseTwice, type SectionPlan } from './config-kind.ts'

/** A section whose entries are identified by their names. */
export interface NamedSection<Entry, Existing> {
  section: ConfigSection
  wanted: readonly Entry[]
  existing: readonly Existing[]
  nameOf(existing: Existing): string
  /** Throws ConfigFault if several existing objects have the name of an entry. Absent if names are unique. */
  refuseSame?(sames: readonly Existing[], path: readonly PropertyKey[]): void
  /** The change that makes the installation match an entry; undefined if it already does. */
  planEntry(
    entry: Entry,
    existing: Existing | undefined,
  ): PlannedChange | undefined | Promise<PlannedChange | undefined>
  removal(existing: Existing): PlannedChange
}

/**
 * Compares the entries of a section with the existing objects of the same names. Throws ConfigFault if the section
 * cannot be applied.
 */
export async function planByName<Entry extends { name: string }, Existing>(
  { section, wanted, existing, nameOf, refuseSame, planEntry, removal }: NamedSection<Entry, Existing>,
  { prune }: PlanContext,
): Promise<SectionPlan> {
  const names = wanted.map(({ name }) => name)
  refuseTwice(section, names)
  const named = Map.groupBy(existing, nameOf)
  const changes: PlannedChange[] = []
  for (const [index, entry] of wanted.entries()) {
    const path = [section, index]
    const label = `${section}: ${JSON.stringify(entry.name)}`
    const sames = named.get(entry.name) ?? []
    refuseSame?.(sames, path)
    const change = await inEntry(path, label, () => planEntry(entry, sames[0]))
    if (change) changes.push({ ...change, make: (trx) => inEntry(path, label, () => change.make(trx)) })
  }
  const listed = new Set(names)
  const others = existing.filter((each) => !listed.has(nameOf(each)))
  if (prune) changes.push(...others.map(removal))
  return { changes, unlisted: others.map(nameOf) }
}
