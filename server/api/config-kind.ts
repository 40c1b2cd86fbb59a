import { isDeepStrictEqual } from 'node:util'
import type { ConfigChange } from '../../contract/api/config.ts'
import type { ConfigFile, ConfigSection, SecretText } from '../../contract/config-file.ts'
import { ApiFailure } from '../http/api-failure.ts'
import type { Db, Trx } from '../store/store.ts'
import type { Actor } from './audit-event.ts'
import type { ApiDeps } from './deps.ts'

/** The dependencies of configuration sections. */
export type ConfigDeps = Pick<ApiDeps, 'secrets' | 'clock' | 'catalogue'>

/** A configuration file that cannot be applied. The message is a sentence; `path` leads to the entry in the file. */
export class ConfigFault extends Error {
  readonly path: readonly PropertyKey[]
  constructor(path: readonly PropertyKey[], message: string) {
    super(message)
    this.path = path
  }
}

/** The reason why an entry cannot be applied. `inEntry` adds the name of the entry. */
export class EntryFault extends Error {}

/**
 * A difference between the file and the installation, and the function that changes the installation to match the file.
 */
export interface PlannedChange extends Omit<ConfigChange, 'section'> {
  make(trx: Trx): Promise<void>
}

/** What applying a section would do. */
export interface SectionPlan {
  changes: PlannedChange[]
  /** The names of existing objects that the section does not list. */
  unlisted: string[]
  /** Runs after all changes of the section. */
  finish?(trx: Trx): Promise<void>
}

/** The options of a plan, and the person who makes it. */
export interface PlanContext {
  deps: ConfigDeps
  actor: Actor
  prune: boolean
}

/** One section of configuration files: how it is compared with the installation, and how it is exported. */
export interface ConfigKind<S extends ConfigSection = ConfigSection> {
  section: S
  /** Throws ConfigFault if the section cannot be applied. Secrets are texts without references. */
  plan(trx: Trx, wanted: NonNullable<ConfigFile[S]>, context: PlanContext): Promise<SectionPlan>
  /** The names of the entries of a section. */
  names(wanted: NonNullable<ConfigFile[S]>): string[]
  /** The section as a file would list it; undefined if it is empty. */
  export(db: Db, deps: ConfigDeps, placeholder: Placeholder): Promise<ConfigFile[S] | undefined>
}

/**
 * Returns the text that an export contains instead of a secret. The text is made of the words that name the secret,
 * such as the channel and the field. Returns undefined if the export omits secrets.
 */
export type Placeholder = (...words: string[]) => string | undefined

/** The text that a plan shows instead of a secret. */
export const maskedSecret = '***'

/** The text of a secret whose references have been replaced. */
export function plainSecret(value: SecretText): string {
  if (typeof value !== 'string') throw new Error('a reference to a file was not replaced')
  return value
}

const longestShown = 200

/** A value as a plan shows it. */
export function shownValue(value: unknown): string {
  if (value === undefined) return ''
  const text = JSON.stringify(value)
  return text.length > longestShown ? `${text.slice(0, longestShown)}…` : text
}

/** The fields that differ between two entries, in the order of `after`. */
export function differences(
  before: Readonly<Record<string, unknown>>,
  after: Readonly<Record<string, unknown>>,
): ConfigChange['fields'] {
  const names = [...new Set([...Object.keys(after), ...Object.keys(before)])]
  return names
    .filter((name) => !isDeepStrictEqual(before[name], after[name]))
    .map((field) => ({ field, before: shownValue(before[field]), after: shownValue(after[field]) }))
}

/**
 * Runs `work` for an entry. If `work` throws an ApiFailure or EntryFault, throws a ConfigFault that names the entry.
 */
export async function inEntry<T>(path: readonly PropertyKey[], label: string, work: () => Promise<T> | T): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof ApiFailure || error instanceof EntryFault)
      throw new ConfigFault(path, `${label}: ${error.message}`)
    throw error
  }
}

/** Throws if two of the names are equal. `path` leads to the entry at an index. */
export function refuseTwice(section: ConfigSection, names: readonly string[]): void {
  names.forEach((name, index) => {
    if (names.indexOf(name) < index)
      throw new ConfigFault([section, index], `${section}: the name ${JSON.stringify(name)} occurs twice.`)
  })
}
