import type { Part } from '../neutral/conversation.ts'

/** A system message as user text, for models that do not accept system messages in the middle of a conversation. */
export function systemWords(text: string): string {
  return `<system>\n${text}\n</system>`
}

/** The parts of a system message as user text. */
export function spokenSystem(parts: readonly Part[]): Part[] {
  return parts.map((part) => (part.type === 'text' ? { ...part, text: systemWords(part.text) } : part))
}
