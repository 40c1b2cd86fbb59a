import { type ChannelOrder, channelOrders } from '../../../contract/channel-orders.ts'
import { type LimitField, limitFields } from '../../../contract/limits.ts'
import { parseJson } from './json-text.ts'
import { ratioKeys } from './ratio-draft.ts'

/**
 * The kind of value that the table of an option has for each name: a number, limits, an order of channels or a text.
 * With `pairs`, the table has a number for each pair of a user group and a token group.
 */
export type TableKind = 'numbers' | 'limits' | 'orders' | 'texts' | 'pairs'

const kinds: Readonly<Record<string, TableKind>> = {
  GroupLimits: 'limits',
  GroupChannelOrder: 'orders',
  UserUsableGroups: 'texts',
  GroupGroupRatio: 'pairs',
}

/** The kind of table for a JSON option; undefined for an option that the ratio editor shows. */
export function tableKindOf(key: string): TableKind | undefined {
  return ratioKeys.some((each) => each === key) ? undefined : (kinds[key] ?? 'numbers')
}

/** Whether the names in the table of an option are groups. */
export const hasGroupNames = (key: string) => key in kinds

export type GroupLimits = Readonly<Partial<Record<LimitField, number>>>
type Entries<Value> = Readonly<Record<string, Value>>

const isNumber = (value: unknown): value is number => typeof value === 'number'
const isRecord = (value: unknown): value is Entries<unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const isLimits = (value: unknown): value is GroupLimits =>
  isRecord(value) &&
  Object.entries(value).every(([name, each]) => limitFields.some((field) => field === name) && isNumber(each))
const isOrder = (value: unknown): value is ChannelOrder => channelOrders.some((each) => each === value)
const isText = (value: unknown): value is string => typeof value === 'string'
const isRatios = (value: unknown): value is Entries<number> => isRecord(value) && Object.values(value).every(isNumber)

function readAs<Value>(source: string, fits: (value: unknown) => value is Value): Entries<Value> | undefined {
  const entries = parseJson(source)
  return entries && Object.values(entries).every(fits) ? (entries as Entries<Value>) : undefined
}

/** Functions that parse the text of an option as a table of a kind. The result is undefined if a value does not fit. */
export const readTable = {
  numbers: (source: string) => readAs(source, isNumber),
  limits: (source: string) => readAs(source, isLimits),
  orders: (source: string) => readAs(source, isOrder),
  texts: (source: string) => readAs(source, isText),
  pairs: (source: string) => readAs(source, isRatios),
} as const

/** The text of a table with one entry set; undefined removes the entry. An entry that exists keeps its position. */
export function withEntry(table: Entries<unknown>, name: string, value: unknown): string {
  const { [name]: _old, ...rest } = table
  const next = value === undefined ? rest : { ...(Object.hasOwn(table, name) ? table : rest), [name]: value }
  return JSON.stringify(next, null, 2)
}

/** Limits with one of them set; undefined and 0 mean no limit, which needs no entry. */
export function withLimit(limits: GroupLimits, field: LimitField, value: number | undefined): GroupLimits {
  const { [field]: _old, ...rest } = limits
  return value === undefined || value === 0 ? rest : { ...limits, [field]: value }
}

/** Sets or removes the ratio of a token group among the ratios of a user group. Returns undefined if none remain. */
export function withPair(
  ratios: Entries<number>,
  group: string,
  value: number | undefined,
): Entries<number> | undefined {
  const { [group]: _old, ...rest } = ratios
  const next = value === undefined ? rest : { ...ratios, [group]: value }
  return Object.keys(next).length === 0 ? undefined : next
}
