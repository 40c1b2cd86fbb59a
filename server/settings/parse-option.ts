import { type ChannelOrder, channelOrders } from '../../contract/channel-orders.ts'
import { type LimitField, type Limits, limitFields, limitsOf } from '../../contract/limits.ts'
import type { OptionDefinition } from '../../contract/option-kinds.ts'
import { type OptionKey, optionDefinitions } from '../../contract/options.ts'
import { isObject, tryParse } from '../lib/json.ts'
import { messageOf } from '../lib/message-of.ts'
import { parseRatioTable, type RatioTable, ratioTableOf } from './ratio-table.ts'

/** A refused option value. The message is for the person who saved it. */
export class OptionError extends Error {}

/** Ratios in millionths, by the group of the user and then by the group of the token. */
export type GroupPairRatios = ReadonlyMap<string, RatioTable>

/** The typed form of each option, by its kind. */
type ValueOf<D extends OptionDefinition> = D['kind'] extends 'boolean'
  ? boolean
  : D['kind'] extends 'integer' | 'number'
    ? number
    : D['kind'] extends 'list'
      ? readonly string[]
      : D['kind'] extends 'json'
        ? D extends { entries: 'limits' }
          ? ReadonlyMap<string, Limits>
          : D extends { entries: 'channel-order' }
            ? ReadonlyMap<string, ChannelOrder>
            : D extends { entries: 'texts' }
              ? ReadonlyMap<string, string>
              : D extends { entries: 'ratios-by-group' }
                ? GroupPairRatios
                : Readonly<Record<string, number>>
        : string

export type OptionValues = { readonly [K in OptionKey]: ValueOf<(typeof optionDefinitions)[K]> }

/**
 * Converts the stored text of an option to its typed value. Throws an OptionError whose message contains the key and
 * says what is expected.
 */
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
      return parseJson(key, definition, text)
    default:
      return text
  }
}

function parseJson(key: OptionKey, { entries }: OptionDefinition, text: string): OptionValues[OptionKey] {
  switch (entries) {
    case 'limits':
      return parseLimits(key, text)
    case 'channel-order':
      return parseOrders(key, text)
    case 'texts':
      return parseTexts(key, text)
    case 'ratios-by-group':
      return parsePairs(key, text)
    default:
      return parseTable(key, text)
  }
}

/** Returns the descriptions by group name. */
function parseTexts(key: OptionKey, text: string): ReadonlyMap<string, string> {
  const value = tryParse(text)
  if (!isObject(value))
    throw new OptionError(`${key} must be a JSON object of group names and descriptions; {} is an empty one`)
  return new Map(
    Object.entries(value).map(([group, description]) => {
      if (group.trim() === '' || group.includes(','))
        throw new OptionError(`${key}: "${group}" is not the name of a group`)
      if (typeof description !== 'string') throw new OptionError(`${key}: the description of "${group}" must be a text`)
      return [group, description]
    }),
  )
}

function parsePairs(key: OptionKey, text: string): GroupPairRatios {
  const value = tryParse(text)
  if (!isObject(value))
    throw new OptionError(`${key} must be a JSON object of groups, each with an object of groups and ratios`)
  return new Map(
    Object.entries(value).map(([group, ratios]) => {
      const parsed = isObject(ratios) ? ratioTableOf(ratios) : undefined
      if (!parsed) throw new OptionError(`${key}: "${group}" must be an object of groups and ratios`)
      if (!parsed.ok) throw new OptionError(`${key}: "${group}": ${parsed.error}`)
      return [group, parsed.table]
    }),
  )
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
    return parseRatioTable(text)
  } catch (error) {
    throw new OptionError(`${key}: ${messageOf(error)}`)
  }
}

/** Returns the order of channels by group name. */
function parseOrders(key: OptionKey, text: string): ReadonlyMap<string, ChannelOrder> {
  const value = tryParse(text)
  if (!isObject(value))
    throw new OptionError(`${key} must be a JSON object of group names and orders; {} is an empty one`)
  return new Map(
    Object.entries(value).map(([group, order]) => {
      const known = channelOrders.find((each) => each === order)
      if (!known) throw new OptionError(`${key}: the order of "${group}" must be one of ${channelOrders.join(', ')}`)
      return [group, known]
    }),
  )
}

/** Returns the limits by name. Names without limits are omitted. */
function parseLimits(key: OptionKey, text: string): ReadonlyMap<string, Limits> {
  const value = tryParse(text)
  if (!isObject(value)) throw new OptionError(`${key} must be a JSON object of names and limits; {} is an empty one`)
  const limits = new Map<string, Limits>()
  for (const [name, entry] of Object.entries(value)) {
    if (!isObject(entry)) throw new OptionError(`${key}: "${name}" must be an object of limits`)
    const row: Partial<Record<LimitField, number>> = {}
    for (const [field, limit] of Object.entries(entry)) {
      if (!isLimitField(field))
        throw new OptionError(`${key}: "${name}" has "${field}", which is not one of ${limitFields.join(', ')}`)
      if (typeof limit !== 'number' || !Number.isSafeInteger(limit) || limit < 0)
        throw new OptionError(`${key}: ${field} of "${name}" must be a whole number, 0 or more`)
      row[field] = limit
    }
    const rowLimits = limitsOf(row)
    if (rowLimits) limits.set(name, rowLimits)
  }
  return limits
}

function isLimitField(field: string): field is LimitField {
  return limitFields.some((known) => known === field)
}
