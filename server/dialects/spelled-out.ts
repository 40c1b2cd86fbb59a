import type { Conversation, MediaPart, Message, Part, TextPart } from './conversation.ts'

/** A conversation in which parts that only another dialect has stand as texts and media, where they can. */
export function spelledOut(conversation: Conversation, dialect: string): Conversation {
  const { from, messages } = conversation
  if (from === dialect || !messages.some(({ parts }) => parts.some(isSpelled))) return conversation
  return { ...conversation, messages: messages.map(plainMessage) }
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
