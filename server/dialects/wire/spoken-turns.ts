import type { Conversation, Message, Part, TextPart } from '../neutral/conversation.ts'
import { DroppedFields } from './dropped-fields.ts'

/** The separator between texts that arrived in separate messages. */
export const gap = '\n\n'

/** A conversation that will be written in another dialect, and the names of the fields dropped from it. */
export interface SpokenTurns {
  readonly conversation: Conversation
  readonly dropped: readonly string[]
}

/**
 * Removes empty turns and joins consecutive turns of the same role, as many services require. A turn is empty if it
 * contains only white space, reasoning, or parts that the upstream's dialect cannot express. `to` is the name of the
 * upstream's dialect.
 */
export function spokenTurns(conversation: Conversation, to: string): SpokenTurns {
  // Unread fields are reported later, when the request is written.
  const { native: _native, unread: _unread, ...read } = conversation
  const dropped = new DroppedFields(read, to)
  const joined = joinTurns(resultsFirst(conversation.messages))
  const spoken = joined.filter((message) => message.parts.some((part) => says(part, to)))
  if (spoken.length === 0) return { conversation: withSystemSaid(conversation, to), dropped: [] }
  const spokenSet = new Set(spoken)
  for (const message of joined) if (!spokenSet.has(message)) loseAll(message, dropped)
  const system = conversation.system.filter(({ text }) => !isBlank(text))
  return { conversation: { ...conversation, system, messages: joinTurns(spoken) }, dropped: dropped.names }
}

/**
 * Handles a conversation that has no messages other than system messages. OpenAI's chat accepts it unchanged. Other
 * services require another message, so the last system message becomes a user message. A conversation without any
 * message is not changed, so that the service reports its own error.
 */
function withSystemSaid(conversation: Conversation, to: string): Conversation {
  const system = conversation.system.filter(({ text }) => !isBlank(text))
  const last = system.at(-1)
  if (last === undefined || to === 'openai-chat') return conversation
  return { ...conversation, system: system.slice(0, -1), messages: [{ role: 'user', parts: [last] }] }
}

/** Moves tool results directly after their calls, as services require. Messages in between follow the last result. */
function resultsFirst(messages: readonly Message[]): Message[] {
  const out: Message[] = []
  const open = new Set<string>()
  const waiting: Message[] = []
  const say = () => {
    for (const message of waiting.splice(0)) out.push(message)
  }
  for (const message of messages) {
    const { parts } = message
    if (open.size === 0 || message.role === 'assistant') {
      const calls = parts.filter((part) => part.type === 'tool-call')
      // The calls of one turn may arrive in separate messages.
      const isSameTurn = calls.length > 0 && out.at(-1)?.role === 'assistant'
      if (!isSameTurn) {
        say()
        open.clear()
      }
      out.push(message)
      for (const { id } of calls) open.add(id)
      continue
    }
    const results = parts.filter((part) => part.type === 'tool-result')
    for (const { callId } of results) open.delete(callId)
    if (results.length === 0) waiting.push(message)
    else if (results.length === parts.length) out.push(message)
    else {
      out.push({ ...message, parts: results })
      waiting.push({ ...message, parts: parts.filter(({ type }) => type !== 'tool-result') })
    }
    if (open.size === 0) say()
  }
  say()
  return out
}

/** True for text that is only white space. */
export function isBlank(text: string): boolean {
  return !/\S/.test(text)
}

/** True for a part that has content when it is written in the dialect `to`. */
function says(part: Part, to: string): boolean {
  switch (part.type) {
    case 'text':
    case 'refusal':
      return !isBlank(part.text)
    case 'reasoning':
      return false
    case 'native':
      return part.dialect === to || !isBlank(part.text ?? '')
    default:
      return true
  }
}

function loseAll({ parts }: Message, dropped: DroppedFields): void {
  for (const part of parts) {
    if (part.type === 'reasoning') dropped.lose('thought', part)
    if (part.type === 'native') dropped.foreign(part.value, 'message')
  }
}

function joinTurns(messages: readonly Message[]): Message[] {
  const out: { readonly message: Message; readonly parts: JoinedPart[] }[] = []
  for (const message of messages) {
    const last = out.at(-1)
    if (!last || !isSameSide(last.message, message) || wouldPassBy(last.parts, message.parts)) {
      out.push({ message, parts: [...message.parts] })
      continue
    }
    const [first, ...rest] = message.parts
    if (first) addPart(last.parts, first)
    // Parts are added one by one, because a caller may send more parts than JavaScript allows as arguments of one call.
    for (const part of rest) last.parts.push(part)
  }
  return out.map(({ message, parts }) => ({ ...message, parts: parts.map(joinedPart) }))
}

/**
 * True if two messages may be joined. Messages with different speaker names are not joined, and system messages are
 * never joined.
 */
function isSameSide(last: Message, next: Message): boolean {
  return last.role === next.role && next.role !== 'system' && last.name === next.name
}

/**
 * True if joining would put tool results after other parts. Such messages are not joined: services require results at
 * the start of a turn, so the results would have to be moved before the earlier parts.
 */
function wouldPassBy(before: readonly JoinedPart[], [first]: readonly Part[]): boolean {
  const last = before.at(-1)
  return first?.type === 'tool-result' && (last === undefined || isTexts(last) || last.type !== 'tool-result')
}

/**
 * A part, or several plain texts that become one part. The texts are joined once, at the end, because a text that grows
 * step by step would be copied each time it is read.
 */
type JoinedPart = Part | readonly string[]

function isTexts(part: JoinedPart): part is readonly string[] {
  return Array.isArray(part)
}

function joinedPart(part: JoinedPart): Part {
  return isTexts(part) ? { type: 'text', text: part.join(gap) } : part
}

/** Adds a part. Consecutive plain texts are joined, because some services do not accept lists of texts. */
function addPart(parts: JoinedPart[], next: Part): void {
  const last = parts.at(-1)
  if (last === undefined || !isPlainText(next)) parts.push(next)
  else if (isTexts(last)) {
    if (!isBlank(next.text)) (last as string[]).push(next.text)
  } else if (!isPlainText(last)) parts.push(next)
  else if (isBlank(last.text)) parts.splice(-1, 1, next)
  else if (!isBlank(next.text)) parts.splice(-1, 1, [last.text, next.text])
}

function isPlainText(part: Part): part is TextPart {
  return part.type === 'text' && Object.keys(part).length === 2
}
