import { configOptionKeys } from '../../../contract/config-file.ts'
import type { OptionDefinition } from '../../../contract/option-kinds.ts'
import { type OptionKey, optionDefinitions } from '../../../contract/options.ts'
import { isObject, tryParse } from '../../lib/json.ts'
import type { Secrets } from '../../lib/secrets/secrets.ts'
import { openOption } from '../../settings/secret-options.ts'
import { type OptionRow, optionRows } from '../../store/installation/options.ts'
import type { Db } from '../../store/store.ts'
import { type ConfigKind, inEntry, maskedSecret, type PlannedChange, plainSecret, shownValue } from '../config-kind.ts'
import { optionText } from './option-text.ts'
import { writeOption } from './save-option.ts'

const definitions: Readonly<Record<OptionKey, OptionDefinition>> = optionDefinitions

/**
 * The texts of all options. For a secret that cannot be decrypted, the text is one that no config file can contain, so
 * it differs from any value in the file.
 */
export async function optionTexts(db: Db, secrets: Secrets): Promise<(key: OptionKey) => string> {
  const rows = new Map((await optionRows(db)).map((row) => [row.key, row]))
  return (key) => {
    const row = rows.get(key)
    return row ? opened(row, secrets) : definitions[key].default
  }
}

function opened(row: OptionRow, secrets: Secrets): string {
  try {
    return openOption(secrets, row)
  } catch {
    return '\0'
  }
}

/**
 * The section `options` of a config file. With `--prune`, options that the file does not list are reset to their
 * defaults.
 */
export const optionsKind: ConfigKind<'options'> = {
  section: 'options',
  names: (wanted) => Object.keys(wanted),

  async plan(trx, wanted, { deps, actor, prune }) {
    const current = await optionTexts(trx, deps.secrets)
    const listed = new Map<OptionKey, string>()
    for (const key of configOptionKeys) {
      const value = wanted[key]
      if (value === undefined) continue
      const text = await inEntry(['options', key], `options: ${key}`, () => optionText(key, textOf(key, value)))
      listed.set(key, text)
    }
    // `--prune` does not reset secrets, because the export may omit them.
    const unlisted = configOptionKeys.filter(
      (key) => !listed.has(key) && !definitions[key].secret && current(key) !== definitions[key].default,
    )
    if (prune) for (const key of unlisted) listed.set(key, definitions[key].default)
    const after = (key: OptionKey) => listed.get(key) ?? current(key)
    const changes = [...listed]
      .filter(([key, value]) => value !== current(key))
      .map(([key, value]): PlannedChange => {
        const before = current(key)
        return {
          op: unlisted.includes(key) ? 'remove' : 'change',
          name: key,
          fields: unlisted.includes(key)
            ? []
            : [{ field: 'value', before: shownText(key, before), after: shownText(key, value) }],
          make: (trx) =>
            inEntry(['options', key], `options: ${key}`, () =>
              writeOption(trx, deps, actor, { key, value, before, after }),
            ),
        }
      })
    return { changes, unlisted }
  },

  async export(db, { secrets }, placeholder) {
    const current = await optionTexts(db, secrets)
    const entries = configOptionKeys
      .filter((key) => current(key) !== definitions[key].default)
      .map((key): [OptionKey, unknown] => [
        key,
        definitions[key].secret ? placeholder(key) : fileValue(key, current(key)),
      ])
      .filter(([, value]) => value !== undefined)
    return entries.length === 0 ? undefined : Object.fromEntries(entries)
  },
}

function textOf(key: OptionKey, value: unknown): string {
  const { kind, secret } = definitions[key]
  if (secret) return plainSecret(value as string)
  if (kind === 'list') return (value as string[]).join(',')
  return kind === 'json' ? JSON.stringify(value) : String(value)
}

/** Converts an option's stored text to its value in a config file. */
function fileValue(key: OptionKey, text: string): unknown {
  const { kind } = definitions[key]
  if (kind === 'boolean') return text === 'true'
  if (kind === 'integer' || kind === 'number') return Number(text)
  if (kind === 'list')
    return text
      .split(',')
      .map((each) => each.trim())
      .filter((each) => each !== '')
  const parsed = kind === 'json' ? tryParse(text) : undefined
  return isObject(parsed) ? parsed : text
}

function shownText(key: OptionKey, text: string): string {
  if (!definitions[key].secret) return shownValue(fileValue(key, text))
  return text === '' ? '' : maskedSecret
}
