import { isOptionKey, type OptionKey, optionDefinitions } from '../../contract/options.ts'
import type { Secrets } from '../lib/secrets/secrets.ts'
import { type OptionRow, optionRows } from '../store/installation/options.ts'
import type { Store } from '../store/store.ts'
import { type OptionValues, parseOption } from './parse-option.ts'
import { openOption } from './secret-options.ts'

/** All options, typed and frozen. Every change creates a new object, so an old object is a consistent snapshot. */
export type Settings = OptionValues

/** Holds the current settings of this node, and reloads them when any node changes one. */
export interface SettingsSource {
  current(): Settings
  /** Runs after every change, with the new settings. */
  onChange(listener: (settings: Settings) => void): void
  /** Reads the table again. Listeners run only if something has changed. */
  reload(): Promise<void>
}

/**
 * Loads the settings. If a stored value cannot be parsed, because it was edited by hand or written by an older version,
 * this is reported through `warn` and the default is used. A single bad row must not stop the gateway.
 */
export async function loadSettings(
  store: Store,
  secrets: Secrets,
  warn: (message: string) => void,
): Promise<SettingsSource> {
  let rows = await optionRows(store.read)
  let settings = parse(rows, secrets, warn)
  const listeners: ((settings: Settings) => void)[] = []
  let begun = 0
  let applied = 0
  async function reload(): Promise<void> {
    // Reloads may overlap. Rows are ignored if a reload that began later has already finished, because its rows are
    // newer.
    const mine = ++begun
    const next = await optionRows(store.read)
    if (mine < applied) return
    applied = mine
    if (JSON.stringify(next) === JSON.stringify(rows)) return
    rows = next
    settings = parse(next, secrets, warn)
    for (const listener of listeners) listener(settings)
  }
  store.notices.subscribe(async (notice) => {
    if (notice === 'reconnected' || notice.topic === 'settings') {
      await reload().catch((error) => warn(`reloading the settings failed: ${String(error)}`))
    }
  })
  return { current: () => settings, onChange: (listener) => void listeners.push(listener), reload }
}

function parse(rows: readonly OptionRow[], secrets: Secrets, warn: (message: string) => void): Settings {
  const values: Partial<Record<OptionKey, OptionValues[OptionKey]>> = {}
  for (const key of Object.keys(optionDefinitions) as OptionKey[]) {
    values[key] = parseOption(key, optionDefinitions[key].default)
  }
  for (const row of rows) {
    if (!isOptionKey(row.key)) continue
    try {
      values[row.key] = parseOption(row.key, openOption(secrets, row))
    } catch (error) {
      warn(`option ${row.key} has an invalid stored value; its default is used: ${String(error)}`)
    }
  }
  return Object.freeze(values) as Settings
}
