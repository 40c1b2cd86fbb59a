import type { RecordedRequest } from './recorded-request.ts'
import { sendJson } from './reply.ts'
import { type Behaviour, behaviour, type Exchange, isJsonObject, type JsonObject } from './types.ts'

/** Counts the ids, so that no id is used twice in a process. */
let made = 0

/** One response that the service is generating. */
interface Job {
  response: JsonObject
  events: JsonObject[]
  /** If true, its streams break off after the events that exist so far. */
  isCut: boolean
  /** Called when there are more events. */
  readonly waiting: Set<() => void>
}

/**
 * How a service misbehaves when it is asked about a response: it sends an error status, no response at all, nonsense,
 * or a response with another id.
 */
type Fault = number | 'hangs' | 'nonsense' | 'other-id'

const lastTypes: ReadonlySet<string> = new Set(['completed', 'failed', 'incomplete', 'cancelled'])

/**
 * A service that generates responses in the background, as the Responses API describes. A test decides when each
 * response ends and how the service misbehaves. Pass its `script` to `FakeUpstream.script`.
 */
export class BackgroundService {
  readonly jobs = new Map<string, Job>()
  /** While this is set, every request about a response fails in this way. */
  fault: Fault | undefined
  /** If true, the service ignores `background`. */
  ignoresBackground = false

  readonly script = (request: RecordedRequest): Behaviour | undefined => {
    const [, id, rest = ''] = /^\/v1\/responses(?:\/([^/]+)(\/.*)?)?$/.exec(request.path) ?? []
    if (request.method === 'POST' && id === undefined) {
      const isAsked = request.fields['background'] === true && !this.ignoresBackground
      return isAsked
        ? behaviour('begins in the background', (exchange) => this.#begin(exchange))
        : behaviour('makes a response at once', (exchange) => this.#atOnce(exchange))
    }
    if (id === undefined) return undefined
    return behaviour('is asked about a response', (exchange) => this.#asked(exchange, id, rest))
  }

  /** Ends a response. */
  end(id: string, status: string, fields: JsonObject = {}): void {
    const job = this.#job(id)
    job.response = { ...job.response, status, ...fields }
    this.push(id, { type: `response.${status}`, response: job.response })
  }

  /** Adds an event to the stream of a response. */
  push(id: string, event: JsonObject): void {
    const job = this.#job(id)
    job.events.push({ ...event, sequence_number: job.events.length })
    for (const more of job.waiting) more()
  }

  /** Breaks off the streams of a response. */
  cut(id: string): void {
    const job = this.#job(id)
    job.isCut = true
    for (const more of job.waiting) more()
  }

  /** Removes a response, so that the service no longer knows its id. */
  forget(id: string): void {
    this.jobs.delete(id)
  }

  #job(id: string): Job {
    const job = this.jobs.get(id)
    if (!job) throw new Error(`there is no response ${id}`)
    return job
  }

  #begin(exchange: Exchange): void | Promise<void> {
    const id = `resp_${process.pid}_${++made}`
    const response = { id, object: 'response', status: 'queued', background: true, model: 'm', output: [], usage: null }
    this.jobs.set(id, { response, events: [], isCut: false, waiting: new Set() })
    this.push(id, { type: 'response.created', response })
    this.push(id, { type: 'response.queued', response })
    return exchange.request.fields['stream'] === true
      ? this.#stream(exchange, id, -1)
      : sendJson(exchange, 200, response)
  }

  async #atOnce(exchange: Exchange): Promise<void> {
    const usage = { input_tokens: 10, output_tokens: 5, total_tokens: 15 }
    const content = [{ type: 'output_text', text: 'Hi.', annotations: [] }]
    const output = [{ type: 'message', role: 'assistant', content }]
    const response = { id: `resp_${++made}`, object: 'response', status: 'completed', model: 'm', output, usage }
    if (exchange.request.fields['stream'] !== true) return sendJson(exchange, 200, response)
    exchange.head(200, [['content-type', 'text/event-stream']])
    const begun = { ...response, status: 'in_progress', output: [], usage: null }
    for (const event of [
      { type: 'response.created', sequence_number: 0, response: begun },
      { type: 'response.output_text.delta', sequence_number: 1, output_index: 0, content_index: 0, delta: 'Hi.' },
      { type: 'response.completed', sequence_number: 2, response },
    ])
      await exchange.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
    exchange.end()
  }

  #asked(exchange: Exchange, id: string, rest: string): void | Promise<void> {
    if (this.fault === 'hangs') return exchange.hang()
    if (this.fault === 'nonsense') return sendJson(exchange, 200, [{ id, status: 'completed' }])
    if (typeof this.fault === 'number') return sendJson(exchange, this.fault, { error: { message: 'no' } })
    const job = this.jobs.get(id)
    if (!job) return sendJson(exchange, 404, { error: { message: `Response with id '${id}' not found.` } })
    if (this.fault === 'other-id')
      return sendJson(exchange, 200, { ...job.response, id: 'resp_other', status: 'completed' })
    const { method, query } = exchange.request
    if (method === 'POST' && rest === '/cancel') {
      if (!lastTypes.has(String(job.response['status']))) this.end(id, 'cancelled')
      return sendJson(exchange, 200, job.response)
    }
    if (method === 'DELETE') {
      this.forget(id)
      return sendJson(exchange, 200, { id, deleted: true })
    }
    if (query.get('stream') === 'true') return this.#stream(exchange, id, Number(query.get('starting_after') ?? -1))
    return sendJson(exchange, 200, job.response)
  }

  async #stream(exchange: Exchange, id: string, after: number): Promise<void> {
    const job = this.#job(id)
    exchange.head(200, [['content-type', 'text/event-stream']])
    for (let at = after + 1; ; at++) {
      while (at >= job.events.length && !exchange.callerLeft.aborted && !job.isCut)
        await this.#more(job, exchange.callerLeft)
      const event = job.events[at]
      if (!event) return job.isCut ? exchange.fin() : undefined
      await exchange.write(`event: ${String(event['type'])}\ndata: ${JSON.stringify(event)}\n\n`)
      const { response } = event
      if (isJsonObject(response) && lastTypes.has(String(event['type']).replace('response.', ''))) return exchange.end()
    }
  }

  #more({ waiting }: Job, left: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        waiting.delete(done)
        left.removeEventListener('abort', done)
        resolve()
      }
      waiting.add(done)
      left.addEventListener('abort', done, { once: true })
    })
  }
}
