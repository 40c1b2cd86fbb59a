import { type OptionDefinition, type OptionKey, optionDefinitions } from '../../contract/options.ts'
import { parseRatioTable } from '../lib/ratio-table.ts'

/** A refused option value; the message is for the person who saved it. */
export class OptionError extends Error {}

/** The typed form of each option by its kind. */
type ValueOf<D extends OptionDefinition> = D['kind'] extends 'boolean'
  ? boolean
  : D['kind'] extends 'integer' | 'number'
    ? number
    : D['kind'] extends 'list'
      ? readonly string[]
      : D['kind'] extends 'json'
        ? Readonly<Record<string, number>>
        : string

export type OptionValues = { readonly [K in OptionKey]: ValueOf<(typeof optionDefinitions)[K]> }

/** Stored text → typed value. Throws OptionError that names the key and what is expected. */
export function parseOption(key: OptionKey, text: string): OptionValues[OptionKey] {
  const definition: OptionDefinition = optionDefinitions[key]
  switch (definition.kind) {
    case 'boolean':
      if (text !== 'true' && text !== 'false') throw new OptionError(`${key} must be true or false`)
      return text === 'true'
    case 'integer':
    case 'number':
      return parseNumber(key, definition, text)
    case 'choice':
      if (!definition.choices?.includes(text))
        throw new OptionError(`${key} must be one of ${definition.choices?.join(', ')}`)
      return text
    case 'list':
      return text
        .split(',')
        .map((item) => item.trim())
        .filter((item) => item !== '')
    case 'json':
      return parseTable(key, text)
    default:
      return text
  }
}

function parseNumber(key: OptionKey, { kind, min, max }: OptionDefinition, text: string): number {
  const value = text.trim() === '' ? Number.NaN : Number(text)
  if (!Number.isFinite(value)) throw new OptionError(`${key} must be a number`)
  if (kind === 'integer' && !Number.isSafeInteger(value)) throw new OptionError(`${key} must be a whole number`)
  if (min !== undefined && value < min) throw new OptionError(`${key} must be at least ${min}`)
  if (max !== undefined && value > max) throw new OptionError(`${key} must be at most ${max}`)
  return value
}

function parseTable(key: OptionKey, text: string): Readonly<Record<string, number>> {
  try {
    return parseRatioTable(text.trim() === '' ? '{}' : text)
  } catch (error) {
    throw new OptionError(`${key}: ${error instanceof Error ? error.message : String(error)}`)
  }
}
