import type { DialectName } from '../../server/dialects/neutral/conversation.ts'
import type { StreamEvent } from '../../server/dialects/neutral/reply.ts'
import type { JsonObject } from '../../server/lib/json.ts'
import { createBreaker } from '../../server/relay/routing/breaker.ts'
import { createRetryBudget } from '../../server/relay/routing/retry-budget.ts'
import { dialects, frameOf } from '../helpers/dialects.ts'
import * as fake from '../helpers/fake-upstream.ts'
import { type Caller, type Rig, see, startRelayRig, untilHeard } from '../relay/setup.ts'

/** For each dialect, the type of a channel that uses it. */
const types: Readonly<Record<DialectName, number>> = {
  'openai-chat': 31,
  'openai-responses': 1,
  'anthropic-messages': 14,
  gemini: 24,
}

/** How a stream breaks off. */
export type Break = 'reset' | 'end' | 'error' | 'hang' | 'nonsense'

const usageOf = (text: string) => ({ promptTokens: 10, completionTokens: Math.max(1, Math.ceil(text.length / 4)) })

/** The name of the dialect in which a request was made. */
function dialectOf({ path }: { path: string }): DialectName {
  if (path.includes('/messages')) return 'anthropic-messages'
  if (path.includes('/responses')) return 'openai-responses'
  return path.includes('GenerateContent') ? 'gemini' : 'openai-chat'
}

/** The events of a text in pieces, as a service would send them. */
function eventsOfText(text: string, size: number, thought?: string): StreamEvent[] {
  const index = thought === undefined ? 0 : 1
  const events: StreamEvent[] = [
    { type: 'start', id: 'answer-of-the-service', model: 'm-2026', createdAtSeconds: 1_700_000_000 },
  ]
  if (thought !== undefined)
    events.push(
      { type: 'part', choice: 0, index: 0, part: { type: 'reasoning', text: '' } },
      { type: 'delta', choice: 0, index: 0, text: thought },
      { type: 'part-end', choice: 0, index: 0 },
    )
  events.push({ type: 'part', choice: 0, index, part: { type: 'text', text: '' } })
  for (let at = 0; at < text.length; at += size)
    events.push({ type: 'delta', choice: 0, index, text: text.slice(at, at + size) })
  return events
}

interface Said {
  text: string
  /** UTF-16 code units per event. */
  size?: number
  thought?: string
  /** How the stream breaks off after the text. If omitted, the answer is complete. */
  breaks?: Break
  /** If true, the text part ends before the stream breaks off. */
  endsText?: boolean
  /** The range of the text that the answer cites, in UTF-16 code units. */
  cites?: { start: number; end: number }
  /** The usage in the first event of the answer. */
  early?: { promptTokens: number; completionTokens: number; cachedTokens?: number }
  /** The usage at the end of the answer. */
  usage?: { promptTokens: number; completionTokens: number } | undefined
}

/** A service that answers with a text, in the dialect of the request. */
export function says({
  text,
  size = 7,
  thought,
  breaks,
  endsText,
  cites,
  early,
  usage = usageOf(text),
}: Said): fake.Behaviour {
  return fake.behaviour(`says ${text.length} characters`, async (exchange) => {
    const name = dialectOf(exchange.request)
    const request = exchange.request.json as JsonObject
    const streamOptions = name === 'openai-chat' ? { stream_options: request['stream_options'] ?? null } : {}
    const encoder = dialects[name].streamEncoder({
      ...frameOf(name, streamOptions),
      id: 'of-the-service',
      model: 'm-2026',
    })
    const firstPiece = JSON.stringify((thought ?? text).slice(0, size - 1)).slice(1, -1)
    const begun = breaks === 'reset' ? untilHeard(firstPiece) : undefined
    exchange.head(200, fake.streamHeaders())
    const events = eventsOfText(text, size, thought)
    if (early && events[0]?.type === 'start') events[0] = { ...events[0], usage: early }
    if (!(await exchange.write(events.map((event) => encoder.push(event)).join('')))) return
    const index = thought === undefined ? 0 : 1
    if (cites) {
      const citations = [{ url: 'https://example.org/', title: 'Example', ...cites }]
      await exchange.write(encoder.push({ type: 'detail', choice: 0, index, detail: { citations } }))
    }
    if (endsText) await exchange.write(encoder.push({ type: 'part-end', choice: 0, index }))
    if (breaks !== undefined) return breakOff(exchange, name, breaks, begun)
    const end: StreamEvent[] = [
      { type: 'part-end', choice: 0, index },
      { type: 'stop', choice: 0, stop: { reason: 'stop' } },
      { type: 'usage', usage },
      { type: 'end' },
    ]
    if (await exchange.write(end.map((event) => encoder.push(event)).join(''))) exchange.end()
  })
}

/** Breaks a stream off. A reset waits until `begun` resolves. */
async function breakOff(
  exchange: fake.Exchange,
  name: DialectName,
  how: Break,
  begun: Promise<void> | undefined,
): Promise<void> {
  if (how === 'hang') return exchange.hang()
  if (how === 'error') {
    const failure = { status: 529, kind: 'overloaded', message: 'overloaded' } as const
    const error = dialects[name].encodeFailure(failure, 'r')
    const { type } = error as { type?: string }
    await exchange.write(`${type ? `event: ${type}\n` : ''}data: ${JSON.stringify(error)}\n\n`)
    return exchange.end()
  }
  if (how === 'nonsense') {
    await exchange.write('data: {"choices":[{"delta":{"tool_calls":[{\n\ndata: }}}}\n\n')
    return exchange.end()
  }
  if (how === 'end') return exchange.end()
  // A reset discards what the gateway has not read yet. The limit is for callers who never get the text.
  await Promise.race([begun, new Promise((resolve) => setTimeout(resolve, 250))])
  exchange.reset()
}

/**
 * The model's last text in a request, and whether it is the last message, so that the model continues the same turn.
 */
export function givenIn(request: fake.RecordedRequest): { given: string; isBegun: boolean } {
  const json = request.json as JsonObject
  const name = dialectOf(request)
  const { messages } = dialects[name].decodeRequest(json, { model: 'm', stream: true })
  const turn = messages.findLast(({ role }) => role === 'assistant')
  const given = (turn?.parts ?? []).map((part) => (part.type === 'text' ? part.text : '')).join('')
  return { given, isBegun: messages.at(-1)?.role === 'assistant' }
}

/**
 * A service that continues the text in the request, and sends the rest in pieces. It may first repeat the last words of
 * the text in the request.
 */
export function goesOn(
  whole: string,
  said: Omit<Said, 'text'> & { repeats?: number; most?: number } = {},
): fake.Behaviour {
  return fake.behaviour('goes on', (exchange) => {
    const { given } = givenIn(exchange.request)
    if (!whole.startsWith(given)) throw new Error(`the text given is not that of the answer: ${given}`)
    const from = given.length - repeated(given, said.repeats ?? 0)
    const rest = whole.slice(from)
    return says({ ...said, text: said.most === undefined ? rest : rest.slice(0, said.most) }).run(exchange)
  })
}

/**
 * The number of code units that a model repeats from the end of a text: whole words with at least `wanted` code units
 * in total.
 */
function repeated(given: string, wanted: number): number {
  if (wanted === 0 || given.length < wanted) return 0
  for (let length = wanted; length < given.length; length++) if (isBoundary(given, given.length - length)) return length
  return given.length
}

function isBoundary(text: string, at: number): boolean {
  if (at <= 0) return true
  if (/[\udc00-\udfff\s]/.test(text[at] ?? '')) return false
  return /[\s\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u.test(text[at - 1] ?? '')
}

/** A gateway that rescues streams, with two channels that use one dialect each. */
export interface RescueRig extends Rig {
  /** Replaces the channels. The first channel is tried first. */
  services(...names: readonly DialectName[]): Promise<number[]>
  ask(caller: DialectName, fields?: JsonObject, token?: string, init?: RequestInit): Promise<Response>
  /**
   * Sets what the upstreams do, one behaviour for each request. Also ends all pauses of channels after earlier
   * failures.
   */
  next(...behaviours: fake.Behaviour[]): void
  whole(caller: DialectName, fields?: JsonObject, by?: Caller): ReturnType<typeof see>
}

/** Starts the gateway. A token of model `m` costs one unit, both in the prompt and in the answer. */
export async function startRescueRig(options: Parameters<typeof startRelayRig>[0] = {}): Promise<RescueRig> {
  const rig = await startRelayRig({
    channels: false,
    retries: true,
    ...options,
    // The tests make many calls of the management API to replace channels, so its rate limit is off.
    env: { GLOBAL_API_RATE_LIMIT: '0' },
    settings: { StreamRescue: 'true', ApproximateTokenEnabled: 'true', ...options.settings },
  })
  const { gateway, upstream } = rig
  const ask: RescueRig['ask'] = (caller, fields = {}, token, init) => {
    const { path, body } = questions[caller]
    return gateway.post(path, { ...body, ...fields }, token, init)
  }
  return Object.assign(rig, {
    ask,
    async services(...names: readonly DialectName[]) {
      await rig.clear()
      const ids: number[] = []
      for (const [index, name] of names.entries())
        ids.push(await rig.channel({ type: types[name], key: `key-${index}`, priority: names.length - index }))
      return ids
    },
    next(...behaviours: fake.Behaviour[]) {
      const { relay } = gateway.context.relay
      relay.retryBudget = createRetryBudget()
      relay.breaker = createBreaker(() => Date.now(), Math.random)
      upstream.clear()
      upstream.next(...behaviours)
    },
    whole: (caller: DialectName, fields: JsonObject = {}, by?: Caller) => see(ask(caller, fields, by?.token)),
  })
}

const turn = { role: 'user', content: 'Hi' }
const questions: Readonly<Record<DialectName, { path: string; body: JsonObject }>> = {
  'openai-chat': {
    path: '/v1/chat/completions',
    body: { model: 'm', messages: [turn], stream: true, stream_options: { include_usage: true } },
  },
  'openai-responses': { path: '/v1/responses', body: { model: 'm', input: 'Hi', stream: true } },
  'anthropic-messages': {
    path: '/v1/messages',
    body: { model: 'm', max_tokens: 4000, messages: [turn], stream: true },
  },
  gemini: {
    path: '/v1beta/models/m:streamGenerateContent?alt=sse',
    body: { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] },
  },
}
