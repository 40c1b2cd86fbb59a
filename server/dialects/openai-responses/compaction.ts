import { GatewayError } from '../../errors.ts'
import type { JsonObject } from '../../lib/json.ts'
import type { Conversation, TextPart } from '../neutral/conversation.ts'
import type { Dialect, Frame, StreamEncoder } from '../neutral/dialect.ts'
import type { Reply, ReplyPart, StreamEvent } from '../neutral/reply.ts'
import { transcript } from '../wire/transcript.ts'
import { openaiResponses } from './index.ts'
import { usageOut } from './usage.ts'

/** The request for a summary. The text that the model writes is all that remains of the conversation. */
const request = `The conversation above is about to be removed from your memory. Write the notes with which you can continue the work without it. Include:
- what the user asked for, in the user's own words where they matter, and every constraint, preference and correction
- what has been done so far, with the names of files, functions, commands and other identifiers, and their results
- facts, decisions and code that will be needed again, quoted exactly
- errors that occurred, and how they were resolved
- what remains to be done, and the next step
Write only the notes, in the language of the conversation. Do not address the user, do not answer open questions, and do not call any tools.`

/** The approximate number of tokens of the request above. */
export const requestTokens = 180

/** The conversation with the request for a summary of it. Fields that would shape an ordinary answer are omitted. */
export function askingForSummary(conversation: Conversation): Conversation {
  const { from, model, stream, system, reasoning, maxTokens, userId, serviceTier, cacheKey } = conversation
  const asked: TextPart = { type: 'text', text: request }
  return {
    from,
    model,
    stream,
    wantsStreamUsage: true,
    system,
    messages: [...transcript(conversation), { role: 'user', parts: [asked] }],
    tools: [],
    ...(reasoning && { reasoning }),
    ...(maxTokens !== undefined && { maxTokens }),
    ...(userId !== undefined && { userId }),
    ...(serviceTier && { serviceTier }),
    ...(cacheKey !== undefined && { cacheKey }),
  }
}

/** Encrypts a summary for the token that requested it. */
type Seal = (summary: string) => string

/**
 * Writes a model's summary as a compaction: either as a compaction response (`call`) or as the only item of an ordinary
 * response (`item`).
 */
export function compactionDialect(kind: 'call' | 'item', seal: Seal): Dialect {
  const item = (summary: string, frame: Frame) => ({
    id: `cmp_${frame.id}`,
    type: 'compaction',
    encrypted_content: seal(summary),
  })
  return {
    ...openaiResponses,
    encodeReply(reply, frame) {
      const summary = textIn(reply)
      if (summary.trim() === '') throw new GatewayError('bad_response_body', noSummary)
      const part = nativePart(item(summary, frame))
      if (kind === 'call') return compaction(reply, part.value, frame)
      return openaiResponses.encodeReply({ ...reply, choices: [{ parts: [part], stop: { reason: 'stop' } }] }, frame)
    },
    streamEncoder: (frame) => new CompactionEncoder(openaiResponses.streamEncoder(frame), (text) => item(text, frame)),
  }
}

const noSummary = 'the model wrote no summary of the conversation'

function nativePart(value: JsonObject) {
  return { type: 'native', dialect: 'openai-responses', value } as const
}

/** A compaction as the compaction endpoint returns it (OpenAI API reference, "The compacted response object"). */
function compaction(reply: Reply, item: JsonObject, frame: Frame): JsonObject {
  return {
    id: `resp_${frame.id}`,
    object: 'response.compaction',
    created_at: frame.createdAtSeconds,
    output: [item],
    usage: reply.usage ? usageOut(reply.usage) : null,
  }
}

function textIn({ choices: [choice] }: Reply): string {
  return (choice?.parts ?? []).map(textOf).join('')
}

function textOf(part: ReplyPart): string {
  return part.type === 'text' ? part.text : ''
}

/** Collects the text of a stream and writes it as one item at the end. */
class CompactionEncoder implements StreamEncoder {
  readonly #inner: StreamEncoder
  readonly #item: (summary: string) => JsonObject
  /** The indexes of parts that are text. */
  readonly #texts = new Set<number>()
  readonly #pieces: string[] = []

  constructor(inner: StreamEncoder, item: (summary: string) => JsonObject) {
    this.#inner = inner
    this.#item = item
  }

  push(event: StreamEvent): string {
    switch (event.type) {
      case 'start':
      case 'usage':
      case 'error':
        return this.#inner.push(event)
      case 'part':
        if (event.choice === 0 && event.part.type === 'text') {
          this.#texts.add(event.index)
          this.#pieces.push(event.part.text)
        }
        return ''
      case 'delta':
        if (event.choice === 0 && this.#texts.has(event.index)) this.#pieces.push(event.text)
        return ''
      case 'end':
        return this.#end()
      default:
        return ''
    }
  }

  #end(): string {
    const summary = this.#pieces.join('')
    if (summary.trim() === '') {
      const failure = { status: 502, kind: 'server', message: noSummary } as const
      return this.#inner.push({ type: 'error', failure })
    }
    const part = nativePart(this.#item(summary))
    return [
      this.#inner.push({ type: 'part', choice: 0, index: 0, part }),
      this.#inner.push({ type: 'part-end', choice: 0, index: 0 }),
      this.#inner.push({ type: 'end' }),
    ].join('')
  }
}
