import type { Conversation, MediaPart, Message, Part, TextPart } from '../neutral/conversation.ts'

/**
 * Replaces parts that exist only in the caller's dialect with equivalent texts and media, if there are any. For
 * dialects other than Anthropic's, also removes the line of Claude Code's system prompt that only Anthropic needs.
 */
export function spelledOut(conversation: Conversation, dialect: string): Conversation {
  const { from, messages, system } = conversation
  const isNoted = dialect !== 'anthropic-messages' && system.some(({ text }) => text.includes(accountNote))
  const cleaned = isNoted ? { ...conversation, system: system.flatMap(withoutNote) } : conversation
  if (from === dialect || !messages.some(({ parts }) => parts.some(isSpelled))) return cleaned
  return { ...cleaned, messages: messages.map(plainMessage) }
}

/**
 * The first line of Claude Code's system prompt identifies the program for billing. It changes with each call, so other
 * services could never reuse a cached prompt. It also means nothing to a model.
 */
const accountNote = 'x-anthropic-billing-header:'
const noteLine = new RegExp(`^${accountNote}[^\\n]*(?:\\n|$)`, 'gm')

function withoutNote(part: TextPart): TextPart[] {
  const text = part.text.replace(noteLine, '')
  return text.trim() === '' && part.text !== text ? [] : [{ ...part, text }]
}

function isSpelled(part: Part): boolean {
  if (part.type === 'tool-result') return part.content.some(isSpelled)
  return part.type === 'native' && part.parts !== undefined
}

function plainMessage(message: Message): Message {
  return message.parts.some(isSpelled) ? { ...message, parts: message.parts.flatMap(plainPart) } : message
}

function plainPart(part: Part): Part[] {
  if (part.type !== 'tool-result') return spelled(part)
  return isSpelled(part) ? [{ ...part, content: part.content.flatMap(spelled) }] : [part]
}

function spelled<P extends Part>(part: P): (P | TextPart | MediaPart)[] {
  return part.type === 'native' && part.parts ? [...part.parts] : [part]
}
