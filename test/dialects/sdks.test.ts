import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Conversation, DialectName } from '../../server/dialects/neutral/conversation.ts'
import type { Reply, StreamEvent } from '../../server/dialects/neutral/reply.ts'
import type { JsonObject } from '../../server/lib/json.ts'
import { assemble, casesOf, decodeAll, dialects, encodeAll } from '../helpers/dialects.ts'
import { leastCases, listSequences, loadCase, recordingsAvailable, sseData } from '../helpers/recordings.ts'
import { sdkReaders } from './sdk-readers.ts'

const names = Object.keys(dialects) as DialectName[]

/** Returns the body of the server's next response. It gets the decoded request. */
let play: (asked: Conversation) => string = () => ''
let server: Server
let baseUrl = ''

/** The dialect that a path belongs to. */
function dialectAt(path: string): DialectName {
  if (path.startsWith('/v1/messages')) return 'anthropic-messages'
  if (path.startsWith('/v1/responses')) return 'openai-responses'
  return path.startsWith('/v1/chat/') ? 'openai-chat' : 'gemini'
}

beforeAll(async () => {
  server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const path = request.url ?? ''
    const body = JSON.parse(Buffer.concat(chunks).toString()) as JsonObject
    const model = /models\/([^:]+):/.exec(path)?.[1] ?? 'm'
    const asked = dialects[dialectAt(path)].decodeRequest(body, { model, stream: path.includes(':stream') })
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.end(play(asked))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => new Promise((resolve) => server.close(resolve)))

const hello: Readonly<Record<DialectName, JsonObject>> = {
  'openai-chat': {
    model: 'm',
    messages: [{ role: 'user', content: 'Hello' }],
    stream_options: { include_usage: true },
  },
  'openai-responses': { model: 'm', input: 'Hello' },
  'anthropic-messages': { model: 'm', max_tokens: 100, messages: [{ role: 'user', content: 'Hello' }] },
  gemini: { model: 'm', contents: 'Hello' },
}

/** Each dialect's names for the reasons why an answer ends. */
const ends: Readonly<Record<DialectName, Readonly<Record<string, string>>>> = {
  'openai-chat': {
    stop: 'stop',
    'stop-sequence': 'stop',
    length: 'length',
    'tool-calls': 'tool_calls',
    refusal: 'stop',
    'content-filter': 'content_filter',
    other: 'error',
  },
  'openai-responses': {
    stop: 'completed',
    'stop-sequence': 'completed',
    length: 'max_output_tokens',
    'tool-calls': 'completed',
    refusal: 'completed',
    'content-filter': 'content_filter',
  },
  'anthropic-messages': {
    stop: 'end_turn',
    'stop-sequence': 'stop_sequence',
    length: 'max_tokens',
    'tool-calls': 'tool_use',
    refusal: 'refusal',
    'content-filter': 'refusal',
  },
  gemini: {
    stop: 'STOP',
    'stop-sequence': 'STOP',
    length: 'MAX_TOKENS',
    'tool-calls': 'STOP',
    refusal: 'SAFETY',
    'content-filter': 'SAFETY',
  },
}

/** What a client must receive, computed from the answer itself. */
function expected({ choices, usage }: Reply, to: DialectName) {
  const [choice] = choices
  const parts = choice?.parts ?? []
  const joined = (...types: string[]) =>
    parts.map((part) => (types.includes(part.type) && 'text' in part ? part.text : '')).join('')
  return {
    text: joined('text', 'refusal'),
    thought: joined('reasoning'),
    calls: parts.flatMap((part) =>
      part.type === 'tool-call' ? [{ id: part.id, name: part.name, input: JSON.parse(part.input || '{}') }] : [],
    ),
    stop: ends[to][choice?.stop.reason ?? ''] ?? '',
    usage: {
      prompt: usage?.promptTokens ?? 0,
      completion: usage?.completionTokens ?? 0,
      cached: usage?.cachedTokens ?? 0,
    },
  }
}

function playEvents(events: readonly StreamEvent[], to: DialectName): void {
  play = (asked) =>
    encodeAll(dialects[to], events, {
      id: 'answer',
      model: asked.model,
      createdAtSeconds: 1,
      nowSeconds: () => 1,
      request: asked,
    })
}

describe('recorded streams through official SDKs', () => {
  for (const from of names) {
    // The recording that ends in 0b06f3 contains the streams of two responses.
    const streams = casesOf(from, { kind: 'sse', status: 'ok' }).filter(({ id }) => !id.endsWith('0b06f3'))

    for (const to of names.filter((name) => name !== from)) {
      test(`from ${from} give a client that uses ${to} the complete answer`, async () => {
        let count = 0
        for (const recorded of streams) {
          const events = decodeAll(dialects[from], sseData(recorded))
          const { reply, ended } = assemble(events)
          const [choice] = reply.choices
          if (!ended || choice?.stop.reason === 'other') continue
          playEvents(events, to)
          const learned = await sdkReaders[to](baseUrl, hello[to])
          expect({ id: recorded.id, ...learned }).toEqual({ id: recorded.id, ...expected(reply, to) })
          count++
        }
        expect(count).toBeGreaterThanOrEqual(leastCases(26))
      })

      test(`from ${from} never look complete to a client that uses ${to}, whichever event they are cut after`, async () => {
        for (const recorded of chosen(streams)) {
          const data = sseData(recorded)
          for (let length = 0; length < data.length; length++) {
            const events = decodeAll(dialects[from], data.slice(0, length))
            if (events.at(-1)?.type === 'end') break
            playEvents(events, to)
            const outcome = await sdkReaders[to](baseUrl, hello[to]).then(
              () => 'whole',
              (error: Error) => error.message,
            )
            expect({ id: recorded.id, length, outcome }).toEqual({
              id: recorded.id,
              length,
              outcome: expect.stringContaining('the upstream ended its response before it was complete'),
            })
          }
        }
      })
    }
  }
})

/** A few short streams of different kinds. Only a few, because each stream is cut off after every event. */
function chosen(streams: ReturnType<typeof casesOf>): ReturnType<typeof casesOf> {
  const short = streams.filter((each) => sseData(each).length < 60)
  const kinds = ['tool_calls', 'tool_use', 'reasoning', 'text']
  const found = kinds.flatMap(
    (kind) => short.find(({ features }) => features.some((each) => each.includes(kind))) ?? [],
  )
  return [...new Set([...found, ...short.slice(0, 2)])].slice(0, 4)
}

describe.skipIf(!recordingsAvailable)('a recorded tool loop (skipped without recordings)', () => {
  for (const from of names) {
    for (const to of names.filter((name) => name !== from)) {
      const loops = listSequences().filter(({ api }) => api === recordedApi[from])

      test(`of ${from} keeps its signed thoughts when a client that uses ${to} sends its answers back`, () => {
        let count = 0
        for (const step of loops.flatMap(({ cases }) => cases.map(loadCase))) {
          if (step.requestJson === undefined) continue
          const asked = dialects[from].decodeRequest(step.requestJson as JsonObject, { model: 'm' })
          const told = asked.messages.flatMap(({ role, parts }) =>
            role === 'assistant' ? broughtBack(to, parts as Reply['choices'][0]['parts']) : [],
          )
          expect({ id: step.id, seals: told.sort() }).toEqual({ id: step.id, seals: sealsOf(asked) })
          count += told.length
        }
        expect(count).toBeGreaterThanOrEqual(leastCases(1))
      })
    }
  }
})

const recordedApi: Readonly<Record<DialectName, string>> = {
  'openai-chat': 'chat',
  'openai-responses': 'responses',
  'anthropic-messages': 'messages',
  gemini: 'generateContent',
}

function sealsOf({ messages }: Conversation): string[] {
  const parts = messages.flatMap((message) => message.parts)
  return parts
    .flatMap((part) => ('seal' in part && part.seal ? [`${part.type} ${part.seal.from} ${part.seal.value}`] : []))
    .sort()
}

/**
 * The signatures in a caller's next request, if an answer is sent to the caller in a dialect and the caller adds the
 * answer to its history.
 */
function broughtBack(to: DialectName, parts: Reply['choices'][0]['parts']): string[] {
  const request = dialects[to].decodeRequest(
    { ...hello[to], contents: [{ parts: [{ text: 'Hello' }] }] },
    { model: 'm' },
  )
  const frame = { id: 'answer', model: 'm', createdAtSeconds: 1, nowSeconds: () => 1, request }
  const reply: Reply = { choices: [{ parts, stop: { reason: 'stop' } }] }
  const answer = JSON.parse(JSON.stringify(dialects[to].encodeReply(reply, frame))) as Record<string, never>
  const history: Readonly<Record<DialectName, () => JsonObject>> = {
    'openai-chat': () => ({ messages: [{ role: 'user', content: 'Hello' }, answer['choices']?.[0]?.['message']] }),
    'openai-responses': () => ({
      input: [{ role: 'user', content: 'Hello' }, ...(answer['output'] as unknown as JsonObject[])],
    }),
    'anthropic-messages': () => ({
      messages: [
        { role: 'user', content: 'Hello' },
        { role: 'assistant', content: answer['content'] },
      ],
    }),
    gemini: () => ({
      contents: [{ role: 'user', parts: [{ text: 'Hello' }] }, answer['candidates']?.[0]?.['content']],
    }),
  }
  return sealsOf(dialects[to].decodeRequest({ ...hello[to], ...history[to]() }, { model: 'm' }))
}
