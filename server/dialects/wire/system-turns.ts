import { isObject, type JsonObject } from '../../lib/json.ts'
import { gap, isBlank } from './spoken-turns.ts'
import { systemWords } from './system-as-user.ts'

/**
 * The positions at which a service accepts system messages. `keep`: anywhere. `first`: only at the start, and later
 * system messages are moved there. `user`: only at the start, and later system messages become user text at their
 * position.
 */
export const systemPlacements = ['keep', 'first', 'user'] as const
export type SystemPlacement = (typeof systemPlacements)[number]

/**
 * Converts messages for a service that accepts system messages only at the start and does not accept the role
 * `developer`. `lead` is the number of system messages that the service accepts at the start: one, several or none. The
 * Messages API accepts none, because its system text is a separate field. System text is never put between a call and
 * its result, nor into the middle of another message. Returns undefined if nothing needs to change.
 */
export function placeSystem(
  messages: readonly unknown[],
  placement: Exclude<SystemPlacement, 'keep'>,
  lead: 'one' | 'several' | 'none' = 'one',
): unknown[] | undefined {
  const first = messages.findIndex((message) => !isSystem(message))
  const start = lead === 'none' ? 0 : first < 0 ? messages.length : first
  const later = messages.findIndex((message, at) => at >= start && mayMove(message))
  const leads = messages.slice(0, start) as JsonObject[]
  const isFit = leads.every(({ role }) => role === 'system') && (lead === 'several' || leads.length < 2)
  if (later < 0 && isFit) return undefined
  const rest = messages.slice(start)
  if (lead !== 'none' && placement === 'first') {
    const system = [...leads, ...rest.filter(mayMove)]
    return [...headOf(system), ...rest.filter((message) => !mayMove(message))]
  }
  const head = lead === 'several' ? leads.map((message) => ({ ...message, role: 'system' })) : headOf(leads)
  return [...head, ...spoken(rest)]
}

/**
 * Converts system messages in the middle of a list of Responses API items to user messages. A system message between a
 * call and its result is put after the result. Returns undefined if no system message needs to be converted.
 */
export function placeSystemItems(items: readonly unknown[]): unknown[] | undefined {
  const first = items.findIndex((item) => !isSystem(item))
  if (first < 0 || !items.some((item, at) => at > first && isSystem(item))) return undefined
  const out: unknown[] = items.slice(0, first)
  const open = new Set<unknown>()
  const waiting: unknown[] = []
  for (const item of items.slice(first)) {
    if (isSystem(item)) {
      if (!isNothing(item['content'])) waiting.push({ ...item, role: 'user', content: wordsIn(item['content']) })
    } else {
      out.push(item)
      if (isObject(item)) noteCall(item, open)
    }
    if (open.size === 0) out.push(...waiting.splice(0))
  }
  return [...out, ...waiting]
}

function noteCall({ type, call_id: id }: JsonObject, open: Set<unknown>): void {
  if (typeof type !== 'string' || id === undefined) return
  if (type.endsWith('_call_output')) open.delete(id)
  else if (type.endsWith('_call')) open.add(id)
}

function isSystem(message: unknown): message is JsonObject {
  return isObject(message) && (message['role'] === 'system' || message['role'] === 'developer')
}

/** True for a system message that may get another role or position: it must contain only text. */
function mayMove(message: unknown): message is JsonObject {
  if (!isSystem(message)) return false
  const { content } = message
  return !Array.isArray(content) || content.every((part) => isObject(part) && typeof part['text'] === 'string')
}

function headOf(system: readonly JsonObject[]): JsonObject[] {
  const [first, ...more] = system.filter(({ content }) => !isNothing(content))
  if (!first) return []
  const content = joined([first['content'], ...more.map((message) => message['content'])])
  return [{ ...first, role: 'system', content }]
}

/**
 * A message and the text to add before and after its content. They are joined once, when the message is complete,
 * because a text that grows step by step would be copied each time it is read.
 */
interface Growing {
  readonly message: JsonObject
  readonly before: readonly unknown[]
  readonly after: unknown[]
}

/**
 * Adds the text of each system message to an adjacent user message or tool result: to the one before it or, otherwise,
 * to the one after it. If there is none, the text becomes a user message.
 */
function spoken(messages: readonly unknown[]): unknown[] {
  const out: unknown[] = []
  let last: Growing | undefined
  let waiting: unknown[] = []
  /**
   * True if the last message is a user message and ends with system text. A user message that follows is then added to
   * it.
   */
  let isOpen = false
  const flush = () => {
    if (last) out.push(grown(last))
    last = undefined
  }
  const say = () => {
    if (waiting.length > 0) out.push({ role: 'user', content: joined(waiting) })
    waiting = []
  }
  for (const message of messages) {
    if (mayMove(message)) {
      if (isNothing(message['content'])) continue
      const words = wordsIn(message['content'])
      if (last) last.after.push(words)
      else waiting.push(words)
      isOpen = last !== undefined && isUsers(last.message)
    } else if (last && isOpen && isUsers(message) && message['name'] === last.message['name']) {
      last.after.push(message['content'])
    } else {
      isOpen = false
      flush()
      if (takesWords(message)) {
        last = { message, before: waiting, after: [] }
        waiting = []
      } else {
        say()
        out.push(message)
      }
    }
  }
  flush()
  say()
  return out
}

function grown({ message, before, after }: Growing): JsonObject {
  if (before.length + after.length === 0) return message
  const { content } = message
  return { ...message, content: joined([...before, content, ...after], Array.isArray(content)) }
}

function isUsers(message: unknown): message is JsonObject {
  return isObject(message) && message['role'] === 'user'
}

function takesWords(message: unknown): message is JsonObject {
  return isUsers(message) || (isObject(message) && (message['role'] === 'tool' || message['role'] === 'function'))
}

function isNothing(content: unknown): boolean {
  if (Array.isArray(content)) return content.every(isBlankText)
  return content === undefined || content === null || (typeof content === 'string' && isBlank(content))
}

function isBlankText(part: unknown): boolean {
  return isObject(part) && typeof part['text'] === 'string' && isBlank(part['text'])
}

function wordsIn(content: unknown): unknown {
  if (typeof content === 'string') return systemWords(content)
  return (Array.isArray(content) ? (content as unknown[]) : []).map((part) =>
    isObject(part) && typeof part['text'] === 'string' ? { ...part, text: systemWords(part['text']) } : part,
  )
}

/**
 * Joins several contents into one. The result is a text if all contents are plain texts and `isList` is false;
 * otherwise, it is a list of parts.
 */
function joined(contents: readonly unknown[], isList = false): unknown {
  const nonEmpty = contents.filter((content) => !isNothing(content))
  if (nonEmpty.length < 2) return nonEmpty[0] ?? contents[0]
  const texts = isList ? [undefined] : nonEmpty.map(plainText)
  if (texts.every((text) => text !== undefined)) return texts.join(gap)
  return resultsFirst(nonEmpty.flatMap(partsOf))
}

/** Moves tool results to the start of a turn. Otherwise the Messages API does not find them. */
function resultsFirst(parts: unknown[]): unknown[] {
  const isResult = (part: unknown) => isObject(part) && part['type'] === 'tool_result'
  return [...parts.filter(isResult), ...parts.filter((part) => !isResult(part))]
}

function plainText(content: unknown): string | undefined {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return undefined
  const texts = (content as unknown[]).map((part) =>
    isObject(part) && part['type'] === 'text' && Object.keys(part).length === 2 ? part['text'] : undefined,
  )
  return texts.every((text) => typeof text === 'string') ? texts.join(gap) : undefined
}

function partsOf(content: unknown): unknown[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : Array.isArray(content) ? content : []
}
