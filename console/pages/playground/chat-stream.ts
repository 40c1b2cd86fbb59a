import type { ChatRequest } from '../../components/chat-code.ts'
import { absoluteUrl } from '../../lib/base-path.ts'
import { EventReader } from './event-reader.ts'

/** Token counts of a call, as the gateway reports them. */
export interface Usage {
  prompt: number
  completion: number
}

/** A piece of a function call; its name and arguments may arrive in several pieces. */
export interface CallPiece {
  index: number
  id: string
  name: string
  arguments: string
  extra: Readonly<Record<string, unknown>> | undefined
}

/** A call that failed, either before its response or during it. */
export class ChatFailure extends Error {
  /** HTTP status; 0 if there was no response, or if the response had already begun. */
  readonly status: number
  readonly code: string | undefined

  constructor(message: string, status = 0, code?: string) {
    super(message)
    this.status = status
    this.code = code
  }
}

interface Listener {
  /** Id of the request in the log. */
  onStart(requestId: string | undefined): void
  onText(text: string): void
  onReasoning(text: string): void
  /** Reasoning in the form that must be sent back with the results of function calls. */
  onDetails(details: readonly unknown[]): void
  onCall(piece: CallPiece): void
  onUsage(usage: Usage): void
}

interface StreamOptions {
  key: string
  request: ChatRequest
  signal: AbortSignal
  /** Error text for a response that ended too early. */
  brokenOff: string
  listener: Listener
}

interface Failure {
  message?: string
  code?: string | number | null
}

interface Delta {
  content?: string | null
  refusal?: string | null
  reasoning_content?: string | null
  reasoning?: unknown
  reasoning_details?: unknown
  tool_calls?:
    | {
        index?: number
        id?: string | null
        function?: { name?: string | null; arguments?: string | null }
        extra_content?: Readonly<Record<string, unknown>> | null
      }[]
    | null
}

interface Chunk {
  choices?: { delta?: Delta | null }[]
  usage?: { prompt_tokens?: number; completion_tokens?: number } | null
  error?: Failure
}

/** Calls a relay path with one of the user's keys, without the session. */
export function callRelay(path: string, key: string, init: RequestInit = {}): Promise<Response> {
  return fetch(absoluteUrl(path), {
    ...init,
    credentials: 'omit',
    headers: { authorization: `Bearer ${key}`, ...(init.body !== undefined && { 'content-type': 'application/json' }) },
  })
}

function failureOf(error: Failure | undefined, fallback: string, status: number): ChatFailure {
  const code = error?.code === undefined || error.code === null ? undefined : String(error.code)
  return new ChatFailure(error?.message || fallback, status, code)
}

/** Reads the error from a failed response. */
export async function relayFailure(response: Response): Promise<ChatFailure> {
  const body = (await response.json().catch(() => undefined)) as { error?: Failure } | undefined
  return failureOf(body?.error, response.statusText, response.status)
}

/**
 * Requests a streamed response and reports it as it arrives. Throws ChatFailure if the gateway or the upstream refuses
 * the call, or if the response breaks off. If the call was stopped, throws the signal's reason.
 */
export async function streamChat({ key, request, signal, brokenOff, listener }: StreamOptions): Promise<void> {
  const body = JSON.stringify({ ...request, stream: true, stream_options: { include_usage: true } })
  const response = await callRelay('/v1/chat/completions', key, { method: 'POST', body, signal })
  listener.onStart(response.headers.get('x-oneapi-request-id') ?? undefined)
  if (!response.ok || !response.body) throw await relayFailure(response)
  const events = new EventReader()
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
  for (;;) {
    const { done, value } = await reader.read()
    if (done) throw new ChatFailure(brokenOff)
    for (const data of events.push(value)) {
      if (data === '[DONE]') return
      tell(JSON.parse(data) as Chunk, listener, brokenOff)
    }
  }
}

function tell(chunk: Chunk, listener: Listener, brokenOff: string): void {
  if (chunk.error) throw failureOf(chunk.error, brokenOff, 0)
  const delta = chunk.choices?.[0]?.delta
  if (delta) tellDelta(delta, listener)
  const { prompt_tokens: prompt, completion_tokens: completion } = chunk.usage ?? {}
  if (prompt !== undefined && completion !== undefined) listener.onUsage({ prompt, completion })
}

function tellDelta(delta: Delta, listener: Listener): void {
  // The reasoning has two field names, and some upstreams send both.
  const reasoning = delta.reasoning_content || (typeof delta.reasoning === 'string' ? delta.reasoning : '')
  if (reasoning) listener.onReasoning(reasoning)
  if (Array.isArray(delta.reasoning_details)) listener.onDetails(delta.reasoning_details)
  const words = delta.content || delta.refusal
  if (words) listener.onText(words)
  for (const [place, call] of (delta.tool_calls ?? []).entries()) {
    listener.onCall({
      index: call.index ?? place,
      id: call.id ?? '',
      name: call.function?.name ?? '',
      arguments: call.function?.arguments ?? '',
      extra: call.extra_content ?? undefined,
    })
  }
}
