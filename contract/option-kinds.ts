import type { OptionSection } from './option-sections.ts'

/**
 * The type of an option. `json` is the text of a JSON object, and `list` is a comma-separated list. All are stored as
 * text.
 */
export type OptionKind = 'boolean' | 'integer' | 'number' | 'text' | 'list' | 'json' | 'choice'

export interface OptionDefinition {
  kind: OptionKind
  /** The default, in its stored form. */
  default: string
  /** The range of a number. */
  min?: number
  max?: number
  /** Allowed values of a choice. */
  choices?: readonly string[]
  /**
   * For `json`: the type of each value in the object. By default, the values are numbers. With `texts`, they are
   * strings. With `ratios-by-group`, they are objects that map group names to ratios.
   */
  entries?: 'limits' | 'channel-order' | 'texts' | 'ratios-by-group'
  unit?: 'seconds' | 'minutes' | 'days' | 'quota' | 'tokens' | 'bytes' | 'currency'
  /** The option can be written, but the API never returns its value. */
  secret?: true
  /** The option's section on the settings page and in the docs. */
  section: OptionSection
  /** The role that may write the option; reading it requires the admin role. */
  writer: 'admin' | 'root'
  description: string
}

/** An option before it is put into a section. */
type WithoutSection = Omit<OptionDefinition, 'section'>
type Kind<K extends OptionKind> = WithoutSection & { kind: K }

/** Puts options into a section. */
export function section<const S extends OptionSection, const D extends Record<string, WithoutSection>>(
  section: S,
  definitions: D,
): { [K in keyof D]: D[K] & { section: S } } {
  return Object.fromEntries(
    Object.entries(definitions).map(([key, definition]) => [key, { ...definition, section }]),
  ) as { [K in keyof D]: D[K] & { section: S } }
}

export const bool = (value: boolean, writer: 'admin' | 'root', description: string): Kind<'boolean'> => ({
  kind: 'boolean',
  default: String(value),
  writer,
  description,
})
export const text = (writer: 'admin' | 'root', description: string, value = ''): Kind<'text'> => ({
  kind: 'text',
  default: value,
  writer,
  description,
})
export const secret = (description: string): Kind<'text'> => ({
  kind: 'text',
  default: '',
  secret: true,
  writer: 'root',
  description,
})
export const quota = (value: number, writer: 'admin' | 'root', description: string): Kind<'integer'> => ({
  kind: 'integer',
  default: String(value),
  min: 0,
  max: 1e15,
  unit: 'quota',
  writer,
  description,
})
export const seconds = (value: number, description: string, zero = 'no limit'): Kind<'number'> => ({
  kind: 'number',
  default: String(value),
  min: 0,
  max: 86_400,
  unit: 'seconds',
  writer: 'admin',
  description: `${description} 0 = ${zero}.`,
})
export const days = (description: string, value = 0): Kind<'integer'> => ({
  kind: 'integer',
  default: String(value),
  min: 0,
  max: 36_500,
  unit: 'days',
  writer: 'root',
  description: `${description} 0 = kept for ever.`,
})
export const table = (value: string, description: string): Kind<'json'> => ({
  kind: 'json',
  default: value,
  writer: 'root',
  description,
})
