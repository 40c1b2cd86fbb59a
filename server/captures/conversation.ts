import type { CapturedTurn } from '../../contract/api/capture.ts'
import { bedrockConverse } from '../dialects/bedrock-converse/index.ts'
import { callerDialects } from '../dialects/caller-dialects.ts'
import { cohereChat } from '../dialects/cohere-chat/index.ts'
import type { Conversation, MediaPart, Part } from '../dialects/neutral/conversation.ts'
import type { Dialect, UpstreamDialect } from '../dialects/neutral/dialect.ts'
import type { ReplyPart, StreamEvent } from '../dialects/neutral/reply.ts'
import { ollamaChat } from '../dialects/ollama-chat/index.ts'
import { messagesIn, SseSplitter } from '../lib/bytes/sse.ts'
import { isObject, tryParse } from '../lib/json.ts'

type CapturedPart = CapturedTurn['parts'][number]

const requestDialects: Readonly<Record<string, Dialect>> = callerDialects
const replyDialects: Readonly<Record<string, UpstreamDialect>> = {
  ...callerDialects,
  'bedrock-converse': bedrockConverse,
  'cohere-chat': cohereChat,
  'ollama-chat': ollamaChat,
}

/** The turns of the conversation in a request; empty if the request cannot be parsed. */
export function requestTurns(text: string, dialect: string): CapturedTurn[] {
  const body = tryParse(text)
  const reader = requestDialects[dialect]
  if (!reader || !isObject(body)) return []
  try {
    // The model is a placeholder. In some dialects, the URL contains the model and the body does not. The turns do not
    // use it.
    return turnsOf(reader.decodeRequest(body, { model: '-', stream: false }))
  } catch {
    return []
  }
}

/** The turns of the model in a response, one for each choice; empty if the response cannot be parsed. */
export function responseTurns(text: string, dialect: string): CapturedTurn[] {
  const reader = replyDialects[dialect]
  if (!reader) return []
  try {
    const body = tryParse(text)
    const choices = isObject(body)
      ? reader.decodeReply(body, '-').choices.map(({ parts }) => parts)
      : streamedParts(text, reader)
    return choices.map((parts): CapturedTurn => ({ role: 'assistant', parts: parts.flatMap(partsOf) })).filter(isFilled)
  } catch {
    return []
  }
}

function isFilled({ parts }: CapturedTurn): boolean {
  return parts.length > 0
}

function turnsOf({ system, messages }: Conversation): CapturedTurn[] {
  const first: CapturedTurn = { role: 'system', parts: system.flatMap(partsOf) }
  const others = messages.map(({ role, parts }): CapturedTurn => ({ role, parts: parts.flatMap(partsOf) }))
  return [first, ...others].filter(isFilled)
}

/** The parts of each choice of a streamed response. */
function streamedParts(text: string, reader: UpstreamDialect): ReplyPart[][] {
  const decoder = reader.streamDecoder('-')
  const choices: ReplyPart[][] = []
  const take = (event: StreamEvent) => {
    if (event.type !== 'part' && event.type !== 'delta') return
    choices[event.choice] ??= []
    const parts = choices[event.choice] ?? []
    if (event.type === 'part') parts[event.index] = event.part
    else parts[event.index] = extended(parts[event.index], event.text)
  }
  const splitter = new SseSplitter()
  for (const event of splitter.push(Buffer.from(`${text}\n\n`)).events)
    for (const data of messagesIn(event)) for (const each of decoder.push(data)) take(each)
  return choices.filter((parts) => parts !== undefined).map((parts) => parts.filter((part) => part !== undefined))
}

function extended(part: ReplyPart | undefined, text: string): ReplyPart {
  if (!part) return { type: 'text', text }
  if (part.type === 'text' || part.type === 'reasoning' || part.type === 'refusal')
    return { ...part, text: part.text + text }
  return part.type === 'tool-call' ? { ...part, input: part.input + text } : part
}

function partsOf(part: Part): CapturedPart[] {
  switch (part.type) {
    case 'text':
    case 'refusal':
      return part.text === '' ? [] : [{ type: part.type, text: part.text, name: '' }]
    case 'reasoning':
      return part.text === '' ? [] : [{ type: 'reasoning', text: part.text, name: '' }]
    case 'tool-call':
      return [{ type: 'tool_call', text: part.input, name: part.name }]
    case 'tool-result':
      return [
        {
          type: 'tool_result',
          text: part.content
            .flatMap(partsOf)
            .map(({ text }) => text)
            .join('\n'),
          name: '',
        },
      ]
    case 'media':
      return [{ type: 'media', text: sourceOf(part), name: part.media }]
    default:
      return [{ type: 'other', text: part.text ?? JSON.stringify(part.value), name: '' }]
  }
}

/**
 * A description of a file, because the turns do not contain its data. It is the URL or id of the file. For a file whose
 * data is in the request, it is the name, type and size.
 */
function sourceOf({ source, name }: MediaPart): string {
  if (source.kind === 'url') return source.url
  if (source.kind === 'file') return source.id
  const bytes = Math.floor((source.data.length * 3) / 4)
  return `${name ? `${name}, ` : ''}${source.mediaType}, ${bytes} bytes`
}
