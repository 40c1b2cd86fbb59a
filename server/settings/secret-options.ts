import type { OptionDefinition } from '../../contract/option-kinds.ts'
import { type OptionKey, optionDefinitions } from '../../contract/options.ts'
import type { Secrets } from '../lib/secrets/secrets.ts'
import { type OptionRow, sealOptionRows } from '../store/installation/options.ts'
import type { Store } from '../store/store.ts'

const definitions: Readonly<Record<OptionKey, OptionDefinition>> = optionDefinitions

/**
 * The encryption context of an option. It binds a value to its option, so that the value cannot be decrypted in another
 * row.
 */
export const optionContext = (key: string) => `option ${key}`

/** The stored form of a value. Secrets are encrypted, and everything else is unchanged. */
export function storedOption(secrets: Secrets, key: OptionKey, value: string): Pick<OptionRow, 'value' | 'sealed'> {
  if (!definitions[key].secret) return { value, sealed: false }
  return { value: secrets.seal(value, optionContext(key)), sealed: true }
}

/** The value of a stored row. Throws if the value was encrypted with another key or for another option. */
export function openOption(secrets: Secrets, row: OptionRow): string {
  return row.sealed ? secrets.open(row.value, optionContext(row.key)) : row.value
}

/**
 * Encrypts secrets that an older version, or a person who edited the database, stored in plain text. Returns the keys
 * of these options.
 */
export function sealPlainOptions(store: Store, secrets: Secrets): Promise<string[]> {
  const keys = (Object.keys(definitions) as OptionKey[]).filter((key) => definitions[key].secret)
  return sealOptionRows(store, keys, (row) => secrets.seal(row.value, optionContext(row.key)))
}
