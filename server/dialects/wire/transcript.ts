import type { Conversation, Message, Part, ToolResultPart } from '../neutral/conversation.ts'

/**
 * The turns of a conversation in a form that a model can be asked to summarize. Tool calls and their results become
 * text, and reasoning is omitted. Because these turns contain no calls and need no tools, every service accepts them,
 * and the model does not continue the task.
 */
export function transcript(conversation: Pick<Conversation, 'messages'>): Message[] {
  return conversation.messages.flatMap(({ role, parts, name }) => {
    const told = parts.flatMap(partOf)
    return told.length > 0 ? [{ role, parts: told, ...(name !== undefined && { name }) }] : []
  })
}

function partOf(part: Part): Part[] {
  switch (part.type) {
    case 'text':
    case 'refusal':
      return [{ type: 'text', text: part.text }]
    case 'media': {
      const { seal: _seal, cache: _cache, native: _native, ...media } = part
      return [media]
    }
    case 'tool-call':
      return [{ type: 'text', text: `[called the tool ${part.name} with ${part.input}]` }]
    case 'tool-result':
      return resultOf(part)
    case 'native':
      return part.text ? [{ type: 'text', text: part.text }] : (part.parts ?? []).flatMap(partOf)
    default:
      return []
  }
}

/** Converts a tool result to its text, followed by its media parts. */
function resultOf({ content, isError }: ToolResultPart): Part[] {
  const parts = content.flatMap(partOf)
  const text = parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n')
  const said = { type: 'text', text: `[the tool ${isError ? 'failed with' : 'returned'}]\n${text}` } as const
  return [said, ...parts.filter(({ type }) => type === 'media')]
}
