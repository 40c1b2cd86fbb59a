import { type OptionKey, optionDefinitions } from '../../../contract/options.ts'
import { storedOption } from '../../settings/secret-options.ts'
import { optionRows, saveOption } from '../../store/installation/options.ts'
import type { SourceOptions } from '../options.ts'
import type { Work } from './work.ts'

/** The change of an option. */
export interface OptionChange {
  key: OptionKey
  /** The old value; empty for secrets. */
  from: string
  to: string
}

const longestShown = 60

/**
 * Copies the options of the source, and returns the changes. An option that is already set stays unchanged if the
 * installation was in use before the first import, or if this is a repeated import. In the first import, the report
 * lists the options that stay unchanged.
 */
export async function copyOptions(work: Work, options: SourceOptions): Promise<OptionChange[]> {
  const { trx, db, secrets, findings, isFresh, journal } = work
  const here = new Map((await optionRows(db)).map((row) => [row.key, row]))
  const isAgain = (await journal('user')).size > 0
  const changes: OptionChange[] = []
  for (const [key, value] of options) {
    const definition: { default: string; secret?: true } = optionDefinitions[key]
    const before = here.get(key)
    if (before && !definition.secret && before.value === value) continue
    if (before && (!isFresh || isAgain)) {
      if (!isAgain)
        findings.add('options', 'This installation has another value for the option. That value stays.', key)
      continue
    }
    changes.push({
      key,
      from: definition.secret ? '' : shown(before?.value ?? definition.default),
      to: definition.secret ? '(secret)' : shown(value),
    })
    const row = storedOption(secrets, key, value)
    if (trx) await saveOption(trx, key, row.value, row.sealed)
  }
  return changes
}

const shown = (value: string) => (value.length > longestShown ? `${value.slice(0, longestShown)}…` : value)
