import { type ConfigSection, groupColumns, numberSections, priceColumns } from '../../../contract/config-file.ts'
import { type OptionKey, optionDefinitions } from '../../../contract/options.ts'
import { isObject, type JsonObject, tryParse } from '../../lib/json.ts'
import type { Trx } from '../../store/store.ts'
import { type ConfigKind, differences, inEntry, type PlanContext, type PlannedChange } from '../config-kind.ts'
import { optionText } from './option-text.ts'
import { optionTexts } from './options-kind.ts'
import { writeOption } from './save-option.ts'

/** Maps each field of a section's entries to the option that stores this field. */
type Columns = Readonly<Record<string, OptionKey>>
/** For each option, its values by the name of the entry. */
type Tables = Map<OptionKey, Map<string, unknown>>
type Entries = Readonly<Record<string, JsonObject>>

/**
 * The sections of a config file that are stored in options with a JSON object each. An entry's fields can be in several
 * options.
 */
export const tableKinds: readonly ConfigKind[] = [
  tableKind('groups', groupColumns),
  tableKind('prices', priceColumns),
  ...Object.entries(numberSections).map(([section, option]) => numberKind(section as NumberSection, option)),
]

type NumberSection = keyof typeof numberSections

/** A section whose entries are objects with several fields. Fields that an entry omits are removed. */
function tableKind(section: ConfigSection, columns: Columns): ConfigKind {
  return {
    section,
    names: (wanted) => Object.keys(wanted),
    plan: (trx, wanted, context) => planTable(trx, { section, columns }, wanted as Entries, context),
    async export(db, { secrets }) {
      const current = await optionTexts(db, secrets)
      // A section is not exported if all its options have their defaults, so that a later version can change the
      // defaults.
      if (Object.values(columns).every((key) => current(key) === optionDefinitions[key].default)) return undefined
      const entries = entriesOf(tablesOf(current, columns), columns)
      const names = Object.keys(entries).sort()
      return names.length === 0 ? undefined : (Object.fromEntries(names.map((name) => [name, entries[name]])) as never)
    },
  }
}

/** A section whose entries are plain numbers. */
function numberKind(section: NumberSection, option: OptionKey): ConfigKind {
  const columns = { value: option }
  const table = tableKind(section, columns)
  return {
    ...table,
    plan: (trx, wanted, context) =>
      planTable(
        trx,
        { section, columns },
        mapped(wanted as JsonObject, (value) => ({ value })),
        context,
      ),
    async export(db, deps, placeholder) {
      const entries = (await table.export(db, deps, placeholder)) as Entries | undefined
      return entries && (mapped(entries, ({ value }) => value) as never)
    },
  }
}

function mapped<T, R>(record: Readonly<Record<string, T>>, change: (value: T) => R): Record<string, R> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, change(value)]))
}

async function planTable(
  trx: Trx,
  { section, columns }: { section: ConfigSection; columns: Columns },
  wanted: Entries,
  { deps, actor, prune }: PlanContext,
) {
  const current = await optionTexts(trx, deps.secrets)
  const tables = tablesOf(current, columns)
  const before = entriesOf(tables, columns)
  const unlisted = Object.keys(before).filter((name) => !Object.hasOwn(wanted, name))
  const write = (name: string, entry: JsonObject) => {
    for (const [column, option] of Object.entries(columns)) {
      if (entry[column] === undefined) tables.get(option)?.delete(name)
      else tables.get(option)?.set(name, entry[column])
    }
  }
  const changes: PlannedChange[] = Object.entries(wanted).flatMap(([name, given]) => {
    const entry = withoutEmpty(given)
    const old = Object.hasOwn(before, name) ? before[name] : undefined
    const fields = differences(old ?? {}, entry)
    if (fields.length === 0 && (old || Object.keys(entry).length === 0)) return []
    return [{ op: old ? 'change' : 'add', name, fields, make: async () => write(name, entry) }]
  })
  if (prune)
    for (const name of unlisted) changes.push({ op: 'remove', name, fields: [], make: async () => write(name, {}) })
  return { changes, unlisted, finish }

  /** Writes the options that the changes have modified. */
  async function finish(trx: Trx): Promise<void> {
    const untouched = tablesOf(current, columns)
    for (const key of Object.values(columns)) {
      const table = tables.get(key) ?? new Map<string, unknown>()
      const same = JSON.stringify([...table]) === JSON.stringify([...(untouched.get(key) ?? [])])
      if (same) continue
      await inEntry([section], section, () => {
        const value = optionText(key, JSON.stringify(Object.fromEntries(table)))
        return writeOption(trx, deps, actor, { key, value, before: current(key), after: current })
      })
    }
  }
}

function tablesOf(current: (key: OptionKey) => string, columns: Columns): Tables {
  return new Map(
    Object.values(columns).map((key) => {
      const parsed = tryParse(current(key))
      const table = isObject(parsed) ? parsed : (tryParse(optionDefinitions[key].default) as JsonObject)
      return [key, new Map(Object.entries(table))]
    }),
  )
}

function entriesOf(tables: Tables, columns: Columns): Record<string, JsonObject> {
  const entries = new Map<string, JsonObject>()
  for (const [column, option] of Object.entries(columns))
    for (const [name, value] of tables.get(option) ?? []) entries.set(name, { ...entries.get(name), [column]: value })
  return Object.fromEntries([...entries].map(([name, entry]) => [name, withoutEmpty(entry)]))
}

/** The entry without meaningless fields: limits of 0, and empty objects. */
function withoutEmpty(entry: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(entry)
      .map(([name, value]): [string, unknown] => [name, isObject(value) ? withoutZeros(value) : value])
      .filter(([, value]) => value !== undefined && !(isObject(value) && Object.keys(value).length === 0)),
  )
}

function withoutZeros(limits: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(limits).filter(([, value]) => value !== 0 && value !== undefined))
}
