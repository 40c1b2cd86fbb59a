import { anthropicMessages } from '../../server/dialects/anthropic-messages/index.ts'
import { ForgivingDecoder } from '../../server/dialects/damaged-events/forgiving-decoder.ts'
import { gemini } from '../../server/dialects/gemini/index.ts'
import type { Conversation, DialectName, Part } from '../../server/dialects/neutral/conversation.ts'
import type { Dialect, Frame, UpstreamDialect } from '../../server/dialects/neutral/dialect.ts'
import type { Choice, Failure, Reply, ReplyPart, StreamEvent } from '../../server/dialects/neutral/reply.ts'
import { openaiChat } from '../../server/dialects/openai-chat/index.ts'
import { openaiResponses } from '../../server/dialects/openai-responses/index.ts'
import { sseData } from '../../server/lib/bytes/sse.ts'
import { isObject, type JsonObject, tryParse } from '../../server/lib/json.ts'
import { listCases, loadCase, type RecordingCase, type RecordingFilter } from './recordings.ts'

/** The dialects by name. */
export const dialects: Readonly<Record<DialectName, Dialect>> = {
  'openai-chat': openaiChat,
  'openai-responses': openaiResponses,
  'anthropic-messages': anthropicMessages,
  gemini,
}

/** Which recordings belong to each dialect. */
const recordedApis: Readonly<Record<DialectName, RecordingFilter>> = {
  'openai-chat': { api: 'chat' },
  'openai-responses': { api: 'responses' },
  'anthropic-messages': { api: 'messages' },
  gemini: { api: 'generateContent' },
}

/** The recorded cases of a dialect, except those of services whose chat API has its own format. */
export function casesOf(name: DialectName, filter: RecordingFilter): RecordingCase[] {
  const foreign = ['baidu', 'spark', 'hunyuan', 'bedrock', 'cohere', 'ollama', 'replicate', '360']
  return listCases({ ...recordedApis[name], ...filter })
    .filter(({ provider }) => !foreign.includes(provider))
    .map(loadCase)
}

/** The context for encoding an answer in tests, with a minimal request. */
export function frameOf(name: DialectName, request: JsonObject = {}): Frame {
  const least: Readonly<Record<DialectName, JsonObject>> = {
    'openai-chat': { model: 'm', messages: [{ role: 'user', content: 'hi' }], stream_options: { include_usage: true } },
    'openai-responses': { model: 'm', input: 'hi' },
    'anthropic-messages': { model: 'm', max_tokens: 10, messages: [{ role: 'user', content: 'hi' }] },
    gemini: { contents: [{ parts: [{ text: 'hi' }] }] },
  }
  const asked = dialects[name].decodeRequest({ ...least[name], ...request }, { model: 'm' })
  return { id: 'test', model: 'm', createdAtSeconds: 1_700_000_000, nowSeconds: () => 1_700_000_000, request: asked }
}

/** The data of all events in a text that contains server-sent events. */
export function dataOf(text: string): string[] {
  return text.split('\n\n').flatMap((block) => sseData(block) ?? [])
}

/** All events that a decoder produces from a stream, up to an error. */
export function decodeAll(dialect: UpstreamDialect, data: readonly string[], idSeed = 'seed'): StreamEvent[] {
  const decoder = new ForgivingDecoder(dialect.streamDecoder(idSeed))
  const all: StreamEvent[] = []
  for (const each of data) {
    all.push(...(decoder.push(each) ?? []))
    if (all.at(-1)?.type === 'error') return all
  }
  return [...all, ...decoder.finish()]
}

/** All text that an encoder produces from events. */
export function encodeAll(dialect: Dialect, events: readonly StreamEvent[], frame: Frame): string {
  const encoder = dialect.streamEncoder(frame)
  return events.map((event) => encoder.push(event)).join('')
}

/** The answer assembled from a stream, and how the stream ended. */
export interface Assembled {
  reply: Reply
  ended: boolean
  failure: Failure | undefined
}

/** Assembles a stream. Throws on events that must not be passed to an encoder. */
export function assemble(events: readonly StreamEvent[]): Assembled {
  const choices = new Map<
    number,
    { parts: Map<number, ReplyPart>; open: Set<number>; stop: Choice['stop'] | undefined }
  >()
  const out: Assembled = { reply: { choices: [] }, ended: false, failure: undefined }
  let head: Partial<Reply> = {}
  const choiceOf = (choice: number) => {
    const found = choices.get(choice) ?? { parts: new Map(), open: new Set(), stop: undefined }
    choices.set(choice, found)
    return found
  }
  for (const event of events) {
    if (out.ended || out.failure) throw new Error(`${event.type} after the end`)
    switch (event.type) {
      case 'start': {
        const { type: _type, ...rest } = event
        head = { ...head, ...rest }
        break
      }
      case 'part': {
        const { parts, open } = choiceOf(event.choice)
        if (parts.has(event.index)) throw new Error(`part ${event.index} begins twice`)
        parts.set(event.index, event.part)
        open.add(event.index)
        break
      }
      case 'delta':
      case 'detail': {
        const { parts, open } = choiceOf(event.choice)
        const part = parts.get(event.index)
        if (!part || !open.has(event.index)) throw new Error(`${event.type} of part ${event.index}, which is not open`)
        parts.set(
          event.index,
          event.type === 'delta' ? grown(part, event.text) : { ...part, ...detailed(part, event.detail) },
        )
        break
      }
      case 'part-end':
        if (!choiceOf(event.choice).open.delete(event.index))
          throw new Error(`part ${event.index} ends without having begun`)
        break
      case 'stop':
        choiceOf(event.choice).stop = event.stop
        break
      case 'usage':
        head = { ...head, usage: event.usage }
        break
      case 'error':
        out.failure = event.failure
        break
      case 'end':
        for (const { open, stop } of choices.values())
          if (open.size > 0 || !stop) throw new Error('the end comes before the end of a part or choice')
        out.ended = true
        break
      default:
    }
  }
  const list = [...choices]
    .sort(([a], [b]) => a - b)
    .map(([, { parts, stop }]) => ({
      parts: [...parts].sort(([a], [b]) => a - b).map(([, part]) => part),
      stop: stop ?? ({ reason: 'other' } as const),
    }))
  out.reply = { ...head, choices: list }
  return out
}

function grown(part: ReplyPart, text: string): ReplyPart {
  if (part.type === 'tool-call') return { ...part, input: part.input + text }
  if (part.type === 'media' && part.source.kind === 'inline')
    return { ...part, source: { ...part.source, data: part.source.data + text } }
  if (part.type === 'text' || part.type === 'reasoning' || part.type === 'refusal')
    return { ...part, text: part.text + text }
  throw new Error(`a delta of a part of type ${part.type}`)
}

function detailed(part: ReplyPart, detail: Extract<StreamEvent, { type: 'detail' }>['detail']): object {
  const before = part.type === 'text' ? (part.citations ?? []) : []
  const spoken = part.type === 'media' ? (part.transcript ?? '') : ''
  return {
    ...(detail.seal && { seal: detail.seal }),
    ...(detail.citations && { citations: [...before, ...detail.citations] }),
    ...(detail.transcript && { transcript: spoken + detail.transcript }),
  }
}

/** A value without the fields that are null, undefined or empty, because such fields mean the same as absent ones. */
export function withoutEmpty(value: unknown): unknown {
  if (Array.isArray(value)) return (value as unknown[]).map(withoutEmpty)
  if (!isObject(value)) return value
  const entries = Object.entries(value).map(([name, each]) => [name, withoutEmpty(each)] as const)
  return Object.fromEntries(
    entries.filter(([, each]) => each !== null && each !== undefined && !(Array.isArray(each) && each.length === 0)),
  )
}

/** The content of a request, reduced to what can be compared between dialects. */
interface Meaning {
  system: string
  turns: { role: string; said: string; calls: unknown[]; results: unknown[]; media: string[] }[]
  tools: unknown[]
}

/** The comparable content of a request. */
export function meaningOf(conversation: Conversation): Meaning {
  const turns: Meaning['turns'] = []
  for (const { role, parts } of conversation.messages) {
    // Only OpenAI allows system messages in the middle of a conversation. In other dialects they become part of the
    // user's turn.
    const side = role === 'system' ? 'user' : role
    let turn = turns.at(-1)
    if (turn?.role !== side) {
      turn = { role: side, said: '', calls: [], results: [], media: [] }
      turns.push(turn)
    }
    for (const part of parts) addPart(turn, part)
  }
  const told = turns.filter(
    ({ said, calls, results, media }) => said !== '' || calls.length + results.length + media.length > 0,
  )
  return {
    system: conversation.system.map(({ text }) => text).join('\n\n'),
    turns: told.reduce(joined, []),
    tools: conversation.tools.flatMap((tool) =>
      tool.type === 'function'
        ? [[tool.name, tool.description, tool.schema?.['properties'] ?? {}, tool.schema?.['required']]]
        : [],
    ),
  }
}

/** Merges adjacent turns with the same role if nothing comparable is left between them. */
function joined(turns: Meaning['turns'], turn: Meaning['turns'][number]): Meaning['turns'] {
  const last = turns.at(-1)
  if (last?.role !== turn.role) return [...turns, turn]
  const { said, calls, results, media } = last
  const both = {
    role: turn.role,
    said: said + turn.said,
    calls: [...calls, ...turn.calls],
    results: [...results, ...turn.results],
    media: [...media, ...turn.media],
  }
  return [...turns.slice(0, -1), both]
}

function addPart(turn: Meaning['turns'][number], part: Part): void {
  const words = (text: string) => text.replace(/<\/?system>|Attachments of \S+:|\s+/g, '')
  switch (part.type) {
    case 'text':
    case 'refusal':
      turn.said += words(part.text)
      break
    case 'native':
      turn.said += words(part.text ?? '')
      break
    case 'tool-call':
      turn.calls.push([part.id, part.name, parsed(part.input || '{}')])
      break
    case 'tool-result': {
      const texts = part.content.flatMap((each) => (each.type === 'media' ? [] : [each.text ?? '']))
      turn.media.push(...part.content.flatMap((each) => (each.type === 'media' ? [each.source.kind] : [])))
      const said = texts.join('\n')
      turn.results.push([part.callId, /^See attachments/.test(said) ? '' : parsed(said)])
      break
    }
    case 'media':
      // A text document can be sent as plain text.
      if (part.source.kind === 'inline' && part.source.mediaType.startsWith('text/'))
        turn.said += words(Buffer.from(part.source.data, 'base64').toString())
      else turn.media.push(part.source.kind)
      break
    default:
  }
}

function parsed(text: string): unknown {
  const value = tryParse(text)
  return value === undefined ? text : value
}
