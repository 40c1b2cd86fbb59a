import { isObject, type JsonObject } from '../../lib/json.ts'
import { isOfOtherMaker } from '../models/claude-model.ts'
import { looseList, looseText } from '../neutral/fields.ts'
import type { Repair, RepairOptions } from '../neutral/repair.ts'
import { messagesRules } from '../neutral/tool-rules.ts'
import { isBlank } from '../wire/spoken-turns.ts'
import { ownState } from '../wire/thought-signature.ts'
import { type CallIdFields, withFitIds } from '../wire/wire-ids.ts'

const dialect = 'anthropic-messages'

/**
 * Repairs an Anthropic request. It removes reasoning that Anthropic did not sign, and assistant messages that are only
 * white space. It replaces call ids that Anthropic does not accept. Anthropic refuses a request that contains any one
 * of these.
 */
export function repairMessages(body: JsonObject, text: string, options: RepairOptions): Repair {
  const isOthers = options.takesUnsigned === true || isOfOtherMaker(options.model)
  const { edits, dropped } = withOwnThoughts(body, text, options, isOthers)
  const original = edits['messages'] ?? body['messages']
  if (isOthers || !Array.isArray(original)) return { edits, dropped }
  const messages = withoutBlanks(original as unknown[])
  const fit = text.includes('tool_use') ? withFitIds(messages, messagesRules.ids, callsIn, true) : undefined
  const isChanged = fit !== undefined || messages !== original
  return { edits: isChanged ? { ...edits, messages: fit ?? messages } : edits, dropped }
}

/**
 * The messages without blank assistant messages and without the blank blocks of assistant messages; the same list if
 * there is nothing to remove.
 */
function withoutBlanks(messages: readonly unknown[]): readonly unknown[] {
  if (!messages.some(isBlankInPart)) return messages
  return messages.flatMap((message) => {
    if (!isObject(message) || !isBlankInPart(message)) return [message]
    const { content } = message
    const blocks = Array.isArray(content) ? (content as unknown[]).filter((block) => !isBlankBlock(block)) : []
    return blocks.length === 0 ? [] : [{ ...message, content: blocks }]
  })
}

/** True for an assistant message that is blank or has a blank block. */
function isBlankInPart(message: unknown): boolean {
  if (!isObject(message) || message['role'] !== 'assistant') return false
  const { content } = message
  if (typeof content === 'string') return isBlank(content)
  return Array.isArray(content) && (content.length === 0 || content.some(isBlankBlock))
}

function isBlankBlock(block: unknown): boolean {
  return isObject(block) && block['type'] === 'text' && isBlank(looseText(block['text']))
}

/** The fields of a message that hold the ids of tool calls. */
const callsIn: CallIdFields = {
  list: 'content',
  member: (block) =>
    block['type'] === 'tool_use' ? 'id' : block['type'] === 'tool_result' ? 'tool_use_id' : undefined,
  isResult: (block) => block['type'] === 'tool_result',
}

/**
 * The edits that remove all reasoning except the reasoning that the service itself produced. With a thinking budget,
 * the service requires a signed reasoning part in an unfinished tool-call loop. If there is none, thinking is turned
 * off.
 */
function withOwnThoughts(body: JsonObject, text: string, options: RepairOptions, keepsUnsigned: boolean): Repair {
  const { messages } = body
  if (!Array.isArray(messages) || !text.includes('thinking')) return { edits: {}, dropped: [] }
  const dropped = new Set<string>()
  const thoughtOut = (block: JsonObject) => {
    const thought = options.withoutThoughts ? undefined : signedThought(block, keepsUnsigned)
    if (!thought) dropped.add('messages.thinking')
    return thought
  }
  const remaining = (messages as unknown[]).flatMap((message) => {
    const without = withoutForeign(message, thoughtOut)
    return without === undefined ? [] : [without]
  })
  const isChanged = remaining.length !== messages.length || remaining.some((message, at) => message !== messages[at])
  const edits = isChanged ? { messages: remaining } : {}
  if (
    keepsUnsigned ||
    !isObject(body['thinking']) ||
    body['thinking']['type'] !== 'enabled' ||
    !lacksThought(remaining)
  )
    return { edits, dropped: [...dropped] }
  return {
    edits: { ...edits, thinking: { type: 'disabled' }, ...withoutClearing(body['context_management']) },
    dropped: [...dropped, 'thinking'],
  }
}

/** The message with only the reasoning that the service itself produced; undefined if nothing is left of it. */
function withoutForeign(message: unknown, thoughtOut: (block: JsonObject) => JsonObject | undefined): unknown {
  const content = isObject(message) ? message['content'] : undefined
  if (!isObject(message) || message['role'] !== 'assistant' || !Array.isArray(content)) return message
  const blocks = content as unknown[]
  const remaining = blocks.flatMap((block) => {
    if (!isThought(block)) return [block]
    const out = thoughtOut(block)
    return out ? [out] : []
  })
  if (remaining.length === blocks.length && remaining.every((block, at) => block === blocks[at])) return message
  return remaining.length === 0 ? undefined : { ...message, content: remaining }
}

function isThought(block: unknown): block is JsonObject {
  return isObject(block) && (block['type'] === 'thinking' || block['type'] === 'redacted_thinking')
}

/** A reasoning part as it is sent to the service; undefined if the service did not produce it. */
function signedThought(block: JsonObject, keepsUnsigned: boolean): JsonObject | undefined {
  const member = block['type'] === 'thinking' ? 'signature' : 'data'
  const value = block[member]
  if (keepsUnsigned && member === 'signature' && (value === undefined || value === null || value === '')) return block
  const own = ownState(value, dialect)
  if (own === undefined) return undefined
  return own === value ? block : { ...block, [member]: own }
}

/** True if the conversation ends with tool results, and no turn of this tool-call loop has reasoning. */
function lacksThought(messages: readonly unknown[]): boolean {
  const loop = messages.findLastIndex(
    (message) => isObject(message) && message['role'] === 'user' && !hasResult(message),
  )
  const turns = messages.slice(loop + 1).filter(isObject)
  const isGoingOn = turns.length > 0 && hasResult(turns.at(-1))
  return isGoingOn && !turns.some(({ content }) => Array.isArray(content) && (content as unknown[]).some(isThought))
}

function hasResult(message: JsonObject | undefined): boolean {
  return looseList(message?.['content']).some(({ type }) => type === 'tool_result')
}

/** `context_management` without the edits that clear reasoning. These edits are allowed only if thinking is enabled. */
function withoutClearing(management: unknown): JsonObject {
  if (!isObject(management)) return {}
  const all = looseList(management['edits'])
  const remaining = all.filter(({ type }) => !looseText(type).startsWith('clear_thinking'))
  return remaining.length === all.length ? {} : { context_management: { ...management, edits: remaining } }
}
