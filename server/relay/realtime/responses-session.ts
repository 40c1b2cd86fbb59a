import { eventType } from '../../dialects/openai-realtime/events.ts'
import { GatewayError } from '../../errors.ts'
import { isEventStream, SseSplitter } from '../../lib/bytes/sse.ts'
import { isObject, type JsonObject, tryParse } from '../../lib/json.ts'
import type { CallerSocket, SocketSession } from '../../lib/network/socket-session.ts'
import type { JsonBody } from '../body/json-body.ts'
import type { DeadlineWait, DeadlineWatch } from '../cancellation/deadline-watch.ts'
import { shuttingDown } from '../cancellation/shutting-down.ts'
import type { OpenSession, RealtimeSessions } from './sessions.ts'
import { announced, conversationAfter, type TurnBody, turnBody } from './turn-body.ts'

/** How long the first message may take, and how long a socket may be idle between two turns. */
const firstMessageMs = 30_000
const idleMs = 300_000
/** A caller that sends this many unusable messages in a row is disconnected. */
const mostFaults = 20
/** An event longer than this is not buffered until its end arrives. */
const longestEventBytes = 64 * 1024 * 1024

const codes = { goingAway: 1001, refused: 1008, failed: 1011 } as const

/** Makes the call for one turn. `complete` receives the message as a JSON body and returns the body of the call. */
export type ServeTurn = (
  text: string,
  complete: (read: JsonBody) => JsonBody | Response,
  signal: AbortSignal,
) => Promise<{ id: string; response: Response }>

export interface ResponsesParts {
  serve: ServeTurn
  sessions: RealtimeSessions
  watch: DeadlineWatch
  nowMs(): number
  warn(message: string): void
  /** Called once, when the connection is over. */
  released(): void
}

/**
 * One socket of the Responses API. Each `response.create` message is a separate call, made like a streamed POST, and
 * its events are sent back as messages. A socket handles one response at a time.
 */
export class ResponsesSession implements SocketSession, OpenSession, DeadlineWait {
  dueAtMs: number
  watchIndex: number | undefined
  readonly #parts: ResponsesParts
  #caller: CallerSocket | undefined
  #turn: Promise<void> | undefined
  #leave: AbortController | undefined
  /** True if the caller has received the end of the response, although the stream has not ended yet. */
  #isAnswered = false
  /** A turn that the caller began after the end of the response, but before the end of its stream. */
  #next: string | undefined
  #isOver = false
  #isDraining = false
  #faults = 0
  #onDrained: (() => void) | undefined

  constructor(parts: ResponsesParts) {
    this.#parts = parts
    this.dueAtMs = parts.watch.nowMs() + firstMessageMs
  }

  opened(socket: CallerSocket): void {
    this.#caller = socket
    this.#parts.watch.add(this)
    this.#parts.sessions.add(this)
  }

  message(data: string | Uint8Array): void {
    if (this.#isOver) return
    const type = typeof data === 'string' ? eventType(data) : ''
    // With this message, Codex reports that it has stored a response. It needs no action.
    if (type === 'response.processed') return
    const fault = typeof data !== 'string' ? 'messages must be text' : this.#faultOf(type)
    if (fault === undefined) {
      this.#faults = 0
      if (this.#turn !== undefined) this.#next = String(data)
      else this.#begin(String(data))
      return
    }
    this.#send(
      errorMessage(400, { message: fault, type: 'invalid_request_error', param: 'type', code: 'invalid_field_value' }),
    )
    if (++this.#faults >= mostFaults) this.#close(codes.refused, 'too many unusable messages')
  }

  drained(): void {
    this.#onDrained?.()
  }

  closed(): void {
    this.#over()
    this.#leave?.abort()
    this.drained()
  }

  drain(): void {
    this.#isDraining = true
    if (this.#turn === undefined) this.#close(codes.goingAway, shuttingDown().code)
  }

  /** Closes the socket when the current turn has been charged. The call of that turn has already been cut off. */
  async cutOff(): Promise<void> {
    this.#isDraining = true
    this.drained()
    await this.#turn
    this.#close(codes.goingAway, shuttingDown().code)
  }

  due(): void {
    this.#close(codes.goingAway, 'nothing was said for too long')
  }

  /** Why a message is not accepted as a turn. */
  #faultOf(type: string): string | undefined {
    if (type !== 'response.create') return 'a message must be JSON with the type response.create'
    const isBusy = this.#turn !== undefined && (!this.#isAnswered || this.#next !== undefined)
    return isBusy ? 'a response is in progress: wait for its end, or open another connection' : undefined
  }

  #begin(text: string): void {
    this.dueAtMs = Number.POSITIVE_INFINITY
    this.#isAnswered = false
    this.#next = undefined
    this.#leave = new AbortController()
    this.#turn = this.#take(text, this.#leave.signal)
      .catch((error: unknown) => {
        this.#parts.warn(String(error))
        this.#send(errorMessage(500, errorOf(new GatewayError('internal_error', 'an internal error occurred'))))
      })
      .then(() => {
        this.#turn = undefined
        this.dueAtMs = this.#parts.watch.nowMs() + idleMs
        if (this.#isOver) return
        if (this.#next !== undefined && !this.#isDraining) this.#begin(this.#next)
        else if (this.#isDraining) this.#close(codes.goingAway, shuttingDown().code)
      })
  }

  async #take(text: string, signal: AbortSignal): Promise<void> {
    const { memory } = this.#parts.sessions
    let turn: TurnBody | undefined
    const complete = (read: JsonBody) => {
      turn = turnBody(read, (id) => memory.find(this, id))
      return turn.generates ? turn.body : new Response(null, { status: 204 })
    }
    const { id, response } = await this.#parts.serve(text, complete, signal)
    if (turn && !turn.generates && response.status === 204) return this.#announce(`resp_${id}`, turn)
    if (!isEventStream(response.headers) || !response.body) return this.#refuse(response)
    const last = await this.#passOn(response.body)
    if (!turn || !last || typeof last['id'] !== 'string') return
    // The socket may have been closed in the meantime.
    if (!this.#isOver)
      memory.keep(this, { id: last['id'], items: conversationAfter(turn, last), containers: turn.containers })
  }

  #announce(id: string, turn: TurnBody): void {
    // The socket may have been closed in the meantime.
    if (this.#isOver) return
    const items = conversationAfter(turn, {})
    this.#parts.sessions.memory.keep(this, { id, items, containers: turn.containers })
    this.#isAnswered = true
    for (const event of announced(id, turn, Math.floor(this.#parts.nowMs() / 1000))) this.#send(event)
  }

  async #refuse(response: Response): Promise<void> {
    const body = tryParse(await response.text())
    this.#isAnswered = true
    const error = isObject(body) && isObject(body['error']) ? body['error'] : { message: 'the request failed' }
    const wait = response.headers.get('retry-after')
    this.#send(errorMessage(response.status, error, wait === null ? {} : { 'retry-after': wait }))
  }

  /** Sends the events of a stream as messages. Returns the final response of the stream, if it has one. */
  async #passOn(body: ReadableStream<Uint8Array>): Promise<JsonObject | undefined> {
    const splitter = new SseSplitter(longestEventBytes)
    const reader = body.getReader()
    let last: JsonObject | undefined
    for (;;) {
      // If a stream breaks off, an earlier event has already reported it.
      const step = await reader.read().catch(() => ({ done: true, value: undefined }) as const)
      if (step.done) return last
      for (const { data } of splitter.push(step.value).events) {
        if (data === undefined) continue
        const type = eventType(data)
        if (endTypes.has(type)) this.#isAnswered = true
        last = finalResponse(type, data) ?? last
        await this.#deliver(data)
      }
    }
  }

  /** If the caller reads slowly, the stream has to wait. If it waits too long, it is ended. */
  async #deliver(data: string): Promise<void> {
    if (this.#send(data) || this.#isOver) return
    await new Promise<void>((resolve) => {
      this.#onDrained = resolve
    })
    this.#onDrained = undefined
  }

  #send(data: string): boolean {
    return this.#isOver || this.#caller?.send(data) !== false
  }

  #close(code: number, reason: string): void {
    if (this.#isOver) return
    this.#over()
    this.#caller?.close(code, reason)
  }

  #over(): void {
    if (this.#isOver) return
    this.#isOver = true
    const { watch, sessions, released } = this.#parts
    watch.remove(this)
    sessions.remove(this)
    sessions.memory.forget(this)
    released()
  }
}

/** The last events of a response. */
const endTypes: ReadonlySet<string> = new Set(['response.completed', 'response.incomplete', 'response.failed'])

/** The response in an event that ends a response without a failure. */
function finalResponse(type: string, data: string): JsonObject | undefined {
  if (type !== 'response.completed' && type !== 'response.incomplete') return undefined
  const event = tryParse(data)
  return isObject(event) && isObject(event['response']) ? event['response'] : undefined
}

function errorOf({ message, type, param, code }: GatewayError): JsonObject {
  return { message, type, param, code }
}

/**
 * An error in the form that clients of this protocol expect. `status` is the status that the response to a POST would
 * have.
 */
function errorMessage(status: number, error: JsonObject, headers: JsonObject = {}): string {
  return JSON.stringify({ type: 'error', status, error, ...(Object.keys(headers).length > 0 && { headers }) })
}
