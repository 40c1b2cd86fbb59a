import type { Conversation, Message, Part } from '../neutral/conversation.ts'

/** A conversation without the models' reasoning, and without the state that services keep for it. */
export function withoutThoughts(conversation: Conversation): Conversation {
  return { ...conversation, messages: conversation.messages.map(plain) }
}

function plain(message: Message): Message {
  const parts = message.parts.flatMap((part): Part[] => {
    if (part.type === 'reasoning') return []
    if (!('seal' in part) || part.seal === undefined) return [part]
    const { seal: _seal, ...rest } = part
    return [rest]
  })
  return { ...message, parts }
}
