import type { Server } from 'bun'
import type { JsonObject } from '../../server/lib/json.ts'
import { type Rig, startRelayRig } from '../relay/setup.ts'

/** A request that a service received. */
export interface Seen {
  readonly method: string
  /** The path with the query. */
  readonly path: string
  readonly headers: Headers
  readonly text: string
  readonly json: JsonObject
}

/** A service of any kind. It sends the response that the test sets, and records its requests. */
export interface Service extends AsyncDisposable {
  readonly url: string
  readonly seen: Seen[]
  answer: (request: Seen) => Response | Promise<Response>
}

/** Starts a service on its own port. */
async function startService(): Promise<Service> {
  const seen: Seen[] = []
  const server: Server<undefined> = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    idleTimeout: 0,
    async fetch(request) {
      const { pathname, search } = new URL(request.url)
      const text = await request.text()
      const json = text.startsWith('{') ? (JSON.parse(text) as JsonObject) : {}
      const one = { method: request.method, path: pathname + search, headers: request.headers, text, json }
      seen.push(one)
      return service.answer(one)
    },
  })
  const service: Service = {
    url: `http://127.0.0.1:${server.port}`,
    seen,
    answer: () => new Response('nothing was said', { status: 500 }),
    async [Symbol.asyncDispose]() {
      await server.stop(true)
    },
  }
  return service
}

/** A gateway with a channel to a service. Model `m` is mapped to the service's model, `model`. */
export interface Wired extends AsyncDisposable {
  readonly rig: Rig
  readonly service: Service
  /** Replaces the previous channel. Returns the id of the new one. */
  channel(type: number, model: string, fields?: object): Promise<number>
  /** Makes a call for model `m` in OpenAI's format. */
  chat(fields?: object): Promise<Response>
  post(path: string, body: object, init?: RequestInit): Promise<Response>
  /** The models that the service reports to a channel of this type. */
  models(type: number, fields?: object): Promise<string[]>
}

/** Starts a gateway and a service. */
export async function startWired(): Promise<Wired> {
  const service = await startService()
  const rig = await startRelayRig({ channels: false })
  const channel: Wired['channel'] = async (type, model, fields = {}) => {
    // A model with search costs the same as the model without it.
    const ratios = JSON.stringify({ m: 1, [model.replace(/-internet$/, '')]: 1 })
    await rig.clear({ RetryTimes: '0', ModelRatio: ratios, CompletionRatio: ratios })
    service.seen.length = 0
    const model_mapping = JSON.stringify({ m: model })
    return rig.channel({ type, base_url: service.url, key: 'k', model_mapping, ...fields })
  }
  const post: Wired['post'] = (path, body, init) => rig.gateway.post(path, body, undefined, init)
  return {
    rig,
    service,
    channel,
    chat: (fields = {}) =>
      post('/v1/chat/completions', { model: 'm', messages: [{ role: 'user', content: 'Hi' }], ...fields }),
    post,
    async models(type, fields) {
      const id = await channel(type, 'm', fields)
      return rig.gateway.api<string[]>('GET', `/api/channel/${id}/upstream_models`)
    },
    async [Symbol.asyncDispose]() {
      await rig[Symbol.asyncDispose]()
      await service[Symbol.asyncDispose]()
    },
  }
}

/** The data of a stream of chat chunks: the text, the finish reason, the usage, and whether it ended properly. */
export function readChunks(text: string): { content: string; finish: unknown; usage: unknown; done: boolean } {
  const data = text.split('\n\n').flatMap((block) => (block.startsWith('data: ') ? [block.slice(6)] : []))
  const chunks = data.filter((each) => each.startsWith('{')).map((each) => JSON.parse(each) as Chunk)
  const choices = chunks.flatMap((chunk) => chunk.choices ?? [])
  return {
    content: choices.map(({ delta }) => delta?.content ?? '').join(''),
    finish: choices.map(({ finish_reason: reason }) => reason).findLast((reason) => reason),
    usage: chunks.map(({ usage }) => usage).findLast((usage) => usage),
    done: data.at(-1) === '[DONE]',
  }
}

interface Chunk {
  choices?: { delta?: { content?: string | null }; finish_reason?: string | null }[]
  usage?: unknown
}

/** A stream of server-sent events. */
export function events(...data: readonly (object | string)[]): Response {
  const text = data.map((each) => `data: ${typeof each === 'string' ? each : JSON.stringify(each)}\n\n`).join('')
  return new Response(text, { headers: { 'content-type': 'text/event-stream' } })
}
