import type { CacheMark, Conversation, Message, Part } from '../neutral/conversation.ts'

/**
 * Adds the cache breakpoints that Claude needs to a conversation from an OpenAI caller. OpenAI's dialects have no cache
 * breakpoints. However, a caller who sends a `prompt_cache_key` indicates that requests with that key have a common
 * prefix. Two breakpoints are set. One is at the end of the part that all these requests share, which is the system
 * prompt or, if there is none, the tools. The other is at the end of the conversation so far.
 */
export function withCacheMarks(conversation: Conversation): Conversation {
  const { from, cacheKey, cacheRetention } = conversation
  const isOpenAi = from === 'openai-chat' || from === 'openai-responses'
  if (!isOpenAi || cacheKey === undefined || hasMarks(conversation)) return conversation
  const cache: CacheMark = { ttl: cacheRetention === '24h' ? '1h' : '' }
  const { cacheKey: _key, cacheRetention: _retention, ...rest } = conversation
  return { ...rest, ...markedStart(conversation, cache), messages: markedEnd(conversation.messages, cache) }
}

function hasMarks({ cache, system, tools, messages }: Conversation): boolean {
  const isMarked = (part: object) => 'cache' in part && part.cache !== undefined
  return (
    cache !== undefined ||
    system.some(isMarked) ||
    tools.some(isMarked) ||
    messages.some(({ parts }) => parts.some(isMarked))
  )
}

function markedStart({ system, tools }: Conversation, cache: CacheMark): Pick<Conversation, 'system' | 'tools'> {
  const last = system.at(-1)
  if (last && last.text !== '') return { system: [...system.slice(0, -1), { ...last, cache }], tools }
  const at = tools.findLastIndex(({ type }) => type === 'function')
  return { system, tools: tools.map((tool, index) => (index === at ? { ...tool, cache } : tool)) }
}

/** Puts the breakpoint on the last part of the user's last turn that can have one. */
function markedEnd(messages: readonly Message[], cache: CacheMark): readonly Message[] {
  const turn = messages.findLastIndex(({ role }) => role === 'user')
  const parts = messages[turn]?.parts ?? []
  const at = parts.findLastIndex(canBear)
  if (at < 0) return messages
  const marked = parts.map((part, index) => (index === at ? ({ ...part, cache } as Part) : part))
  return messages.map((message, index) => (index === turn ? { ...message, parts: marked } : message))
}

function canBear(part: Part): boolean {
  return part.type === 'tool-result' || part.type === 'media' || (part.type === 'text' && part.text.trim() !== '')
}
