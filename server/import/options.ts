import { isOptionKey, type OptionKey, optionDefinitions } from '../../contract/options.ts'
import { isObject, tryParse } from '../lib/json.ts'
import { messageOf } from '../lib/message-of.ts'
import { parseOption } from '../settings/parse-option.ts'
import { ratioTableOf } from '../settings/ratio-table.ts'
import { integerOf, textOf } from './fields.ts'
import type { Findings } from './findings.ts'
import { hubTables } from './hub-prices.ts'
import type { Program } from './program.ts'
import type { SourceDatabase } from './sources/source-database.ts'

/** The options of a source in Tollgate's form: texts by key. */
export type SourceOptions = Map<OptionKey, string>

/** A text longer than this is not imported, because no page could show it. */
const longestText = 1_000_000

/** Options that one-hub no longer reads, because it replaced them by its own tables. */
const unusedByHub: ReadonlySet<string> = new Set(['ModelRatio', 'CompletionRatio', 'GroupRatio', 'ModelPrice'])
/** Options that Laisky's one-api still stores but replaced by prices of channels. */
const unusedByLaisky: ReadonlySet<string> = new Set(['ModelRatio', 'CompletionRatio'])
/** Options about the program itself. */
const internal: ReadonlySet<string> = new Set(['OldTokenMaxId', 'SelfUseModeEnabled', 'DemoSiteEnabled', 'Theme'])

/** The groups that users of new-api may choose if the option was never changed. Existing tokens use them. */
const usableByDefault = '{"default":"默认分组","vip":"vip分组"}'

/** The result of `readOptions`. */
export interface ReadOptions {
  options: SourceOptions
  /** The stored texts, for decisions in other parts of the import. */
  stored: ReadonlyMap<string, string>
}

/** Reads the options. Options without a counterpart become leftovers. Invalid options keep Tollgate's default. */
export async function readOptions(source: SourceDatabase, program: Program, findings: Findings): Promise<ReadOptions> {
  const options: SourceOptions = new Map()
  const stored = new Map<string, string>()
  const length = source.dialect === 'mysql' ? 'char_length' : 'length'
  const sizes = await source.query(`select "key", ${length}("value") as size from "options"`)
  const long = new Set(sizes.filter(({ size }) => integerOf(size) > longestText).map((row) => textOf(row['key'])))
  for (const key of long)
    findings.add('options', `The option is longer than ${longestText} characters and is not imported.`, key)
  const rows = await source.query(
    `select "key", "value" from "options" where ${length}("value") <= ${longestText} order by "key"`,
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

/** Says what the program uses instead of an option that it only stores; undefined if it uses the option. */
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

/** The valid entries of a ratio table. */
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
