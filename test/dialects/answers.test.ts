import { describe, expect, test } from 'bun:test'
import type { DialectName } from '../../server/dialects/neutral/conversation.ts'
import type { Reply, ReplyPart, Stop, StreamEvent } from '../../server/dialects/neutral/reply.ts'
import { isUsualTier } from '../../server/dialects/wire/service-tier.ts'
import { isObject, type JsonObject } from '../../server/lib/json.ts'
import {
  type Assembled,
  assemble,
  casesOf,
  dataOf,
  decodeAll,
  dialects,
  encodeAll,
  frameOf,
  withoutEmpty,
} from '../helpers/dialects.ts'
import { leastCases, sseData } from '../helpers/recordings.ts'

/**
 * The calls in this recording were made, and answered, by a program that Anthropic ran. No other dialect has such
 * calls.
 */
const programmatic = 'anthropic-messages-anthropic-programmatic-tool-calling-1-420911'

const names = Object.keys(dialects) as DialectName[]

/**
 * An answer reduced to what must survive a round trip. The id and the creation time are omitted, because the gateway
 * generates them if the service sends none or uses another format. The service's own finish reason, the default tier
 * and the flag for doubtful usage are omitted, too.
 */
function told({ id: _id, createdAtSeconds: _created, choices, usage, ...reply }: Reply): object {
  const plain = choices.map(({ parts, stop }) => ({ parts, stop: stop.reason }))
  const { tier, doubt: _doubt, ...counts } = usage ?? {}
  const used = { ...counts, ...(tier !== undefined && !isUsualTier(tier) && { tier }) }
  return withoutEmpty({ ...reply, ...(usage && { usage: used }), choices: plain }) as object
}

/**
 * Adds a usage of zero tokens if the answer has none and is sent to an Anthropic caller. Anthropic's responses always
 * contain token counts.
 */
function withZero(said: ReturnType<typeof saidOf>, to: DialectName): ReturnType<typeof saidOf> {
  const usage = said.usage ?? (to === 'anthropic-messages' ? { prompt: 0, completion: 0, cached: 0 } : undefined)
  return { ...said, usage }
}

const prefixes: Readonly<Record<DialectName, string>> = {
  'openai-chat': 'chatcmpl-',
  'openai-responses': 'resp_',
  'anthropic-messages': 'msg_',
  gemini: '',
}

/** The content of an answer, reduced to what every dialect can express. */
function saidOf({ choices, usage }: Reply, to: DialectName) {
  const only = to === 'openai-chat' || to === 'gemini' ? choices : choices.slice(0, 1)
  return {
    choices: only.map(({ parts, stop }) => ({
      text: parts.map((part) => spoken(part, to)).join(''),
      thought: parts.map((part) => (part.type === 'reasoning' ? part.text : '')).join(''),
      calls: parts.flatMap((part) =>
        part.type === 'tool-call' ? [[part.id, part.name, JSON.parse(part.input || '{}') as unknown]] : [],
      ),
      // Several citations of the same URL count as one.
      sources: new Set(
        parts.flatMap((part) => (part.type === 'text' ? (part.citations ?? []).flatMap(({ url }) => url ?? []) : [])),
      ),
      // The signatures of this dialect, and those of other dialects, which the gateway wraps in an envelope.
      seals: parts.flatMap((part) => ('seal' in part && part.seal ? [`${part.seal.from} ${part.seal.value}`] : [])),
      stop: stopIn(stop, to),
    })),
    usage: usage && { prompt: usage.promptTokens, completion: usage.completionTokens, cached: usage.cachedTokens ?? 0 },
  }
}

/**
 * Removes the signatures of texts. In a Messages stream, such a signature arrives too late to be sent before the text,
 * and must not follow it.
 */
function withoutTextSeals(reply: Reply): Reply {
  const plain = (part: ReplyPart): ReplyPart => {
    if (part.type !== 'text') return part
    const { seal: _seal, ...rest } = part
    return rest
  }
  return { ...reply, choices: reply.choices.map((choice) => ({ ...choice, parts: choice.parts.map(plain) })) }
}

/** The text, including the transcript of audio if the dialect does not support audio. */
function spoken(part: ReplyPart, to: DialectName): string {
  if (part.type === 'text' || part.type === 'refusal') return part.text
  const isHeard = to === 'openai-chat' || to === 'gemini'
  return part.type === 'media' && !isHeard ? (part.transcript ?? '') : ''
}

/** Replaces finish reasons that a dialect lacks. */
function stopIn({ reason, raw }: Stop, to: DialectName): string {
  if (reason === 'stop-sequence' && to !== 'anthropic-messages') return 'stop'
  if (reason === 'refusal' && to === 'gemini') return 'content-filter'
  // Anthropic reports `refusal` if its classifiers stop an answer. OpenAI's finish reason for a stopped answer is
  // `content_filter`. A model that itself refuses to answer has another finish reason.
  if (reason === 'refusal' && raw?.dialect === 'anthropic-messages' && to !== 'anthropic-messages')
    return 'content-filter'
  if (reason === 'content-filter' && to === 'anthropic-messages') return 'refusal'
  if (reason === 'pause' && to !== 'anthropic-messages') return 'length'
  return reason
}

describe('recorded answers', () => {
  for (const name of names) {
    const dialect = dialects[name]
    const whole = casesOf(name, { kind: 'json', status: 'ok' }).filter(({ responseJson }) => isObject(responseJson))
    const streamed = casesOf(name, { kind: 'sse', status: 'ok' })

    test(`in ${name} are unchanged after they are encoded and decoded again`, () => {
      expect(whole.length).toBeGreaterThanOrEqual(leastCases(31))
      for (const { id, responseJson } of whole) {
        const reply = dialect.decodeReply(responseJson as JsonObject, 'seed')
        expect({ id, choices: reply.choices.length }).toEqual({ id, choices: expect.any(Number) })
        const wire = JSON.parse(JSON.stringify(dialect.encodeReply(reply, frameOf(name)))) as JsonObject
        const again = dialect.decodeReply(wire, 'seed')
        // JSON has no negative zero.
        const first = JSON.parse(JSON.stringify(reply)) as Reply
        expect({ id, ...told({ ...again, model: reply.model }) }).toEqual({ id, ...told(first) })
        const given = reply.id ?? 'test'
        expect(again.id).toBe(given.startsWith(prefixes[name]) ? given : prefixes[name] + given)
      }
    })

    test(`streamed in ${name} are unchanged after they are encoded and decoded again`, () => {
      expect(streamed.length).toBeGreaterThanOrEqual(leastCases(31))
      for (const recorded of streamed) {
        const events = decodeAll(dialect, sseData(recorded))
        const first = assemble(events)
        const again = assemble(decodeAll(dialect, dataOf(encodeAll(dialect, events, frameOf(name)))))
        expect({ id: recorded.id, ended: again.ended }).toEqual({ id: recorded.id, ended: first.ended })
        if (!first.ended) continue
        expect({ id: recorded.id, reply: told(again.reply) }).toEqual({
          id: recorded.id,
          reply: told(first.reply),
        })
      }
    })

    test(`streamed in ${name} yield exactly the text of their events`, () => {
      for (const recorded of streamed) {
        const { reply } = assemble(decodeAll(dialect, sseData(recorded)))
        const said = reply.choices.map(({ parts }) =>
          parts.map((part) => (part.type === 'text' || part.type === 'refusal' ? part.text : '')).join(''),
        )
        expect({ id: recorded.id, said: said.join('') }).toEqual({
          id: recorded.id,
          said: plainText(name, sseData(recorded)),
        })
      }
    })

    test(`streamed in ${name} are reported as incomplete wherever the stream is cut`, () => {
      for (const recorded of streamed.slice(0, 20)) {
        const data = sseData(recorded)
        for (let length = 0; length < lastOf(name, data); length++) {
          const { ended, failure } = assembleLoosely(decodeAll(dialect, data.slice(0, length)))
          expect({ id: recorded.id, length, ended, failed: failure !== undefined }).toEqual({
            id: recorded.id,
            length,
            ended: false,
            failed: true,
          })
        }
      }
    })

    for (const other of names.filter((each) => each !== name)) {
      test(`in ${name} have the same content after translation to ${other}, both streamed and not`, () => {
        for (const { id, responseJson } of whole) {
          const reply = dialect.decodeReply(responseJson as JsonObject, 'seed')
          if (reply.choices.length === 0 || id === programmatic) continue
          const wire = JSON.parse(JSON.stringify(dialects[other].encodeReply(reply, frameOf(other)))) as JsonObject
          const again = dialects[other].decodeReply(wire, 'seed')
          expect({ id, ...saidOf(again, other) }).toEqual({ id, ...withZero(saidOf(reply, other), other) })
        }
        for (const recorded of streamed) {
          const events = decodeAll(dialect, sseData(recorded))
          const first = assemble(events)
          if (!first.ended) continue
          const again = assemble(decodeAll(dialects[other], dataOf(encodeAll(dialects[other], events, frameOf(other)))))
          expect(again.ended).toBe(true)
          const said = { id: recorded.id, ...saidOf(again.reply, other) }
          const expected = other === 'anthropic-messages' ? withoutTextSeals(first.reply) : first.reply
          expect(said).toEqual({ id: recorded.id, ...withZero(saidOf(expected, other), other) })
        }
      })
    }
  }
})

/** The text of a stream, read by the simplest possible parser, which is independent of the code under test. */
function plainText(name: DialectName, data: readonly string[]): string {
  const found: string[] = []
  const later: string[][] = []
  for (const each of data) {
    if (each === '[DONE]' || each === '') continue
    const event = JSON.parse(each) as Record<string, never>
    const read = (...path: (string | number)[]) =>
      path.reduce<unknown>((at, key) => (at as JsonObject | undefined)?.[key], event)
    if (name === 'anthropic-messages' && read('delta', 'type') === 'text_delta')
      found.push(String(read('delta', 'text')))
    if (name === 'openai-responses' && /^response\.(output_text|refusal)\.delta$/.test(String(event['type'])))
      found.push(String(event['delta']))
    if (name === 'gemini') {
      const parts = (read('candidates', 0, 'content', 'parts') ?? []) as JsonObject[]
      for (const part of parts) if (typeof part['text'] === 'string' && !part['thought']) found.push(part['text'])
    }
    if (name === 'openai-chat') {
      for (const choice of (event['choices'] ?? []) as JsonObject[]) {
        const delta = (choice['delta'] ?? {}) as JsonObject
        const index = Number(choice['index'] ?? 0)
        const list = index === 0 ? found : (later[index] ?? [])
        if (index > 0) later[index] = list
        for (const text of [delta['content'], delta['refusal']]) if (typeof text === 'string') list.push(text)
        const listed = Array.isArray(delta['content']) ? (delta['content'] as JsonObject[]) : []
        for (const part of listed) if (part['type'] === 'text') list.push(String(part['text']))
      }
    }
  }
  return [...found, ...later.flat()].join('')
}

/** The number of events before the one that ends the answer. A stream of only these events, or fewer, is incomplete. */
function lastOf(name: DialectName, data: readonly string[]): number {
  const marks: Readonly<Record<DialectName, RegExp>> = {
    'anthropic-messages': /"type":\s*"message_stop"/,
    'openai-responses': /"type":\s*"response\.(?:completed|incomplete)"/,
    gemini: /"finishReason"/,
    'openai-chat': /"finish_reason":\s*"|^\[DONE\]$/,
  }
  const at = data.findIndex((each) => marks[name].test(each))
  return at < 0 ? data.length : at
}

/**
 * Assembles a stream even if parts are still open. A truncated stream leaves parts open, which is not the fault of its
 * decoder.
 */
function assembleLoosely(events: readonly StreamEvent[]): Pick<Assembled, 'ended' | 'failure'> {
  const last = events.at(-1)
  return { ended: last?.type === 'end', failure: last?.type === 'error' ? last.failure : undefined }
}
