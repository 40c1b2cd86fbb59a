import { isOptionKey, type OptionKey, optionDefinitions } from '../../contract/options.ts'
import { isObject, tryParse } from '../lib/json.ts'
import { messageOf } from '../lib/message-of.ts'
import { parseOption } from '../settings/parse-option.ts'
import { ratioTableOf } from '../settings/ratio-table.ts'
import { integerOf, textOf } from './fields.ts'
import type { Findings } from './findings.ts'
import { hubTables } from './hub-prices.ts'
import type { Program } from './program.ts'
import { type SourceDatabase, tableName } from './sources/source-database.ts'

/** The options of a source converted to Tollgate's options: their values by key. */
export type SourceOptions = Map<OptionKey, string>

/** An option longer than this number of characters is not imported, because the console could not show it. */
const longestText = 1_000_000

/** Options that one-hub still stores but no longer reads, because it keeps prices and groups in tables of their own. */
const unusedByHub: ReadonlySet<string> = new Set(['ModelRatio', 'CompletionRatio', 'GroupRatio', 'ModelPrice'])
/** Options that Laisky's one-api still stores but no longer reads, because it keeps prices with the channels. */
const unusedByLaisky: ReadonlySet<string> = new Set(['ModelRatio', 'CompletionRatio'])
/** Options of the source program that have no meaning in Tollgate. They are skipped. */
const internal: ReadonlySet<string> = new Set(['OldTokenMaxId', 'SelfUseModeEnabled', 'DemoSiteEnabled', 'Theme'])

/**
 * New-api's default of UserUsableGroups. It is imported if the source has not stored the option, because existing
 * tokens may use these groups.
 */
const usableByDefault = '{"default":"默认分组","vip":"vip分组"}'

/** The result of `readOptions`. */
export interface ReadOptions {
  options: SourceOptions
  /** All options of the source as stored there. Other parts of the import read settings of the source from them. */
  stored: ReadonlyMap<string, string>
}

/** Reads the options. Options without a counterpart become leftovers. Invalid options keep Tollgate's default. */
export async function readOptions(source: SourceDatabase, program: Program, findings: Findings): Promise<ReadOptions> {
  const options: SourceOptions = new Map()
  const stored = new Map<string, string>()
  const length = source.dialect === 'mysql' ? 'char_length' : 'length'
  const table = tableName(source, 'options')
  const sizes = await source.query(`select "key" as "key", ${length}("value") as size from ${table}`)
  const long = new Set(sizes.filter(({ size }) => integerOf(size) > longestText).map((row) => textOf(row['key'])))
  for (const key of long)
    findings.add('options', `The option is longer than ${longestText} characters and is not imported.`, key)
  const rows = await source.query(
    `select "key" as "key", "value" as "value" from ${table} where ${length}("value") <= ${longestText} order by "key"`,
  )
  for (const row of rows) {
    const key = textOf(row['key'])
    const value = textOf(row['value'])
    stored.set(key, value)
    const instead = insteadOf(key, source, program)
    if (instead !== undefined) {
      findings.add('options', `${program.title} does not use this option; ${instead} imported instead.`, key)
      continue
    }
    if (!isOptionKey(key)) {
      leaveOption(key, value, options, findings)
      continue
    }
    keepOption(options, key, value, findings)
  }
  if (program.name === 'one-hub')
    for (const [key, value] of await hubTables(source, Number(stored.get('QuotaPerUnit') ?? 500_000), findings))
      keepOption(options, key, value, findings)
  if (program.name === 'new-api' && !stored.has('UserUsableGroups'))
    keepOption(options, 'UserUsableGroups', usableByDefault, findings)
  return { options, stored }
}

/** What the program reads instead of an option that it stores but does not read; undefined if it reads the option. */
function insteadOf(key: string, { tables }: SourceDatabase, { name }: Program): string | undefined {
  if (name === 'one-hub' && unusedByHub.has(key)) return 'its own tables are'
  const hasPrices = tables.get('channels')?.has('model_configs')
  return name === 'laisky' && hasPrices && unusedByLaisky.has(key) ? 'the prices of its channels are' : undefined
}

function leaveOption(key: string, value: string, options: SourceOptions, findings: Findings): void {
  if (key === 'SMTPSSLEnabled') {
    if (value === 'true') options.set('SMTPSecurity', 'tls')
    return
  }
  if (internal.has(key) || value === '') return
  findings.leave(
    { kind: 'option', id: key, reason: 'no counterpart', data: { key, value } },
    'The option has no counterpart.',
  )
}

function keepOption(options: SourceOptions, key: OptionKey, value: string, findings: Findings): void {
  const definition: { kind: string; default: string; entries?: string } = optionDefinitions[key]
  const text = definition.kind === 'json' && definition.entries === undefined ? validTable(key, value, findings) : value
  const adjusted = key === 'ServerAddress' ? text.replace(/\/+$/, '') : text
  try {
    parseOption(key, adjusted)
  } catch (error) {
    const reason = messageOf(error)
    findings.leave(
      { kind: 'option', id: key, reason, data: { key, value } },
      'The value of the option is not valid here. The option keeps its default.',
    )
    return
  }
  if (adjusted !== definition.default) options.set(key, adjusted)
}

/** A ratio table as JSON, without the entries that are not valid. */
function validTable(key: string, value: string, findings: Findings): string {
  const parsed = tryParse(value.trim() === '' ? '{}' : value)
  if (!isObject(parsed)) return value
  const valid: Record<string, unknown> = {}
  for (const [name, entry] of Object.entries(parsed)) {
    const one = ratioTableOf({ [name]: entry })
    if (one.ok) valid[name] = entry
    else
      findings.add(
        'prices',
        `The entry in ${key} is not valid here and is skipped: ${one.error.slice(one.error.lastIndexOf('": ') + 3)}.`,
        name,
      )
    if (one.ok && one.rounded.length > 0)
      findings.add('prices', `The entry in ${key} is rounded to six decimals.`, name)
  }
  return JSON.stringify(valid)
}
