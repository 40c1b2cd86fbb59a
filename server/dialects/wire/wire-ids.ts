import { isObject, type JsonObject } from '../../lib/json.ts'
import { looseText } from '../neutral/fields.ts'
import type { WordRule } from '../neutral/tool-rules.ts'
import { ToolIds } from './tool-ids.ts'

/** The fields in which a dialect puts the ids of calls. */
export interface CallIdFields {
  /** The field of a message that lists calls and results; absent = the message itself may be a call or result. */
  list?: string
  /** The name of the field that holds the id of a call or result; undefined if the value is neither. */
  member(value: JsonObject): string | undefined
  isResult(value: JsonObject): boolean
}

/** Messages with valid call ids; undefined if all ids are already valid. */
export function withFitIds(
  messages: readonly unknown[],
  rule: WordRule,
  fields: CallIdFields,
  unique = false,
): unknown[] | undefined {
  const all: string[] = []
  const note = (value: unknown) => {
    const member = isObject(value) ? fields.member(value) : undefined
    if (isObject(value) && member !== undefined) all.push(looseText(value[member]))
    return value
  }
  for (const message of messages) eachOf(message, fields, note)
  const ids = new ToolIds(rule, all, unique)
  if (ids.allFit && !(unique && hasTwoCallsOfOneId(messages, fields))) return undefined
  return messages.map((message) => eachOf(message, fields, (value) => fitValue(value, ids, fields)))
}

function eachOf(message: unknown, { list, member }: CallIdFields, turn: (value: unknown) => unknown): unknown {
  if (!isObject(message)) return message
  const own = member(message) === undefined ? message : turn(message)
  const values = list === undefined ? undefined : message[list]
  if (list === undefined || !Array.isArray(values) || !isObject(own)) return own
  const turned = (values as unknown[]).map(turn)
  return turned.every((value, at) => value === values[at]) ? own : { ...own, [list]: turned }
}

function fitValue(value: unknown, ids: ToolIds, fields: CallIdFields): unknown {
  const member = isObject(value) ? fields.member(value) : undefined
  if (!isObject(value) || member === undefined) return value
  const id = looseText(value[member])
  const fit = fields.isResult(value) ? ids.result(id) : ids.call(id)
  return fit === value[member] ? value : { ...value, [member]: fit }
}

function hasTwoCallsOfOneId(messages: readonly unknown[], fields: CallIdFields): boolean {
  const seen = new Set<unknown>()
  let isTwice = false
  for (const message of messages)
    eachOf(message, fields, (value) => {
      const member = isObject(value) && !fields.isResult(value) ? fields.member(value) : undefined
      if (isObject(value) && member !== undefined) {
        isTwice ||= seen.has(value[member])
        seen.add(value[member])
      }
      return value
    })
  return isTwice
}
