// Shared by the tests of providers: responses of the fake upstream, a chat call and what its caller received, and a
// sample tool and conversation.
import { sendBody, sendJson } from '../helpers/fake-upstream/reply.ts'
import { type Behaviour, behaviour } from '../helpers/fake-upstream/types.ts'
import type { Rig } from '../relay/setup.ts'
import { eventsOf, see } from '../relay/setup.ts'

/** Responds with a JSON body. */
export function answers(body: unknown, status = 200): Behaviour {
  return behaviour(`answers ${status}`, (exchange) => sendJson(exchange, status, body))
}

/** Responds with events, one per object. Strings are sent unchanged. */
export function streams(...events: readonly (object | string)[]): Behaviour {
  return behaviour('streams', (exchange) => {
    const body = events.map((event) => (typeof event === 'string' ? event : `data: ${JSON.stringify(event)}\n\n`))
    return sendBody(exchange, 200, body.join(''), [['content-type', 'text/event-stream']])
  })
}

/** What a caller of OpenAI's chat received, assembled. */
export interface Got {
  status: number
  dropped: string
  text: string
  thought: string
  calls: { id: string; name: string; input: string }[]
  reason: string | undefined
  usage: unknown
  error: { message: string; type: string; code: string | number | null } | undefined
  /** True if the stream ended properly. */
  ended: boolean
  citations: string[]
}

interface Piece {
  content?: string | null
  reasoning_content?: string
  tool_calls?: { index?: number; id?: string; function?: { name?: string; arguments?: string } }[]
  annotations?: { url_citation: { url: string } }[]
}

interface Answer {
  choices?: { message?: Piece; delta?: Piece; finish_reason?: string | null }[]
  usage?: unknown
}

/** Makes an OpenAI chat call and assembles the answer, whether it is streamed or not. */
export async function askChat(rig: Rig, request: object, token?: string): Promise<Got> {
  const seen = await see(rig.gateway.post('/v1/chat/completions', request, token))
  const isStream = (seen.headers.get('content-type') ?? '').startsWith('text/event-stream')
  const events = isStream ? eventsOf(seen.text) : [seen.text]
  const got: Got = {
    status: seen.status,
    dropped: seen.headers.get('x-tollgate-dropped') ?? '',
    text: '',
    thought: '',
    calls: [],
    reason: undefined,
    usage: undefined,
    error: seen.error,
    ended: isStream && events.at(-1) === '[DONE]',
    citations: [],
  }
  for (const event of events) {
    if (event === '[DONE]') continue
    const { choices = [], usage } = JSON.parse(event) as Answer
    if (usage) got.usage = usage
    for (const { message, delta, finish_reason } of choices) {
      const piece = message ?? delta ?? {}
      got.text += piece.content ?? ''
      got.thought += piece.reasoning_content ?? ''
      if (finish_reason) got.reason = finish_reason
      for (const { url_citation } of piece.annotations ?? []) got.citations.push(url_citation.url)
      for (const [at, call] of (piece.tool_calls ?? []).entries()) addCall(got, call.index ?? at, call)
    }
  }
  return got
}

function addCall(got: Got, index: number, call: NonNullable<Piece['tool_calls']>[number]): void {
  const known = got.calls[index] ?? { id: call.id ?? '', name: call.function?.name ?? '', input: '' }
  known.input += call.function?.arguments ?? ''
  got.calls[index] = known
}

/** The token counts in a `usage` object. */
export function tokensOf(usage: unknown): { prompt: unknown; completion: unknown } {
  const { prompt_tokens: prompt, completion_tokens: completion } = (usage ?? {}) as Record<string, unknown>
  return { prompt, completion }
}

/** A tool that a request can offer to the model. */
export const weather = {
  type: 'function',
  function: {
    name: 'weather',
    description: 'Tells the weather of a place',
    parameters: { type: 'object', properties: { place: { type: 'string' } }, required: ['place'] },
  },
} as const

/** A conversation with two parallel calls and their results. */
export const twoCalls = [
  { role: 'system', content: 'Be brief.' },
  { role: 'user', content: 'Weather in Rome and Oslo?' },
  {
    role: 'assistant',
    content: null,
    tool_calls: [
      { id: 'call_1', type: 'function', function: { name: 'weather', arguments: '{"place":"Rome"}' } },
      { id: 'call_2', type: 'function', function: { name: 'weather', arguments: '{"place":"Oslo"}' } },
    ],
  },
  { role: 'tool', tool_call_id: 'call_1', content: 'sunny' },
  { role: 'tool', tool_call_id: 'call_2', content: 'snow' },
]

/** The body of the upstream's last request. */
export function lastBody(rig: Rig): Record<string, unknown> {
  return (rig.upstream.requests.at(-1)?.json ?? {}) as Record<string, unknown>
}
