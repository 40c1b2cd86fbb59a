import type { HeaderList, JsonObject } from './types.ts'
import { isJsonObject } from './types.ts'

/** What is known about a request when its headers have arrived. */
export interface RequestHead {
  readonly protocol: 'http/1.1' | 'h2'
  readonly method: string
  /** Path and query, as they were sent. */
  readonly target: string
  readonly rawHeaders: HeaderList
  /** The number of the request's connection, counted from 1. */
  readonly connection: number
}

/** One request as it arrived. Its body is filled in when it has been received. */
export class RecordedRequest {
  readonly protocol: 'http/1.1' | 'h2'
  readonly method: string
  readonly target: string
  readonly path: string
  readonly query: URLSearchParams
  readonly rawHeaders: HeaderList
  readonly headers: Headers
  readonly connection: number
  /** When the headers arrived, in milliseconds since the epoch. */
  readonly atMs = Date.now()
  /** The name of the behaviour that responded. */
  behaviour = ''
  /** False while the body is still arriving. Stays false if the connection ended first. */
  bodyComplete = false
  /** True if the caller disconnected before the response was finished. */
  aborted = false
  /** True once the complete response has been handed to the kernel. */
  answered = false
  /** When the exchange ended, in whatever way, in milliseconds since the epoch. */
  endedAtMs: number | undefined
  #body: Uint8Array = new Uint8Array(0)
  #json: unknown

  constructor(head: RequestHead) {
    this.protocol = head.protocol
    this.method = head.method
    this.target = head.target
    const mark = head.target.indexOf('?')
    this.path = mark < 0 ? head.target : head.target.slice(0, mark)
    this.query = new URLSearchParams(mark < 0 ? '' : head.target.slice(mark + 1))
    this.rawHeaders = head.rawHeaders
    this.headers = new Headers()
    for (const [name, value] of head.rawHeaders) if (!name.startsWith(':')) this.headers.append(name, value)
    this.connection = head.connection
  }

  get body(): Uint8Array {
    return this.#body
  }

  /** Called by the server when the whole body has arrived. */
  completeBody(bytes: Uint8Array): void {
    this.#body = bytes
    this.bodyComplete = true
  }

  get text(): string {
    return new TextDecoder().decode(this.#body)
  }

  /** The parsed body. Undefined if it is not JSON. */
  get json(): unknown {
    if (this.#json === undefined && this.#body.length > 0) {
      try {
        this.#json = JSON.parse(this.text)
      } catch {
        this.#json = undefined
      }
    }
    return this.#json
  }

  /** The parsed body if it is a JSON object, otherwise an empty object. */
  get fields(): JsonObject {
    return isJsonObject(this.json) ? this.json : {}
  }

  /** The `model` field of the body. */
  get model(): string | undefined {
    return typeof this.fields.model === 'string' ? this.fields.model : undefined
  }

  /** The API key of the request, in whichever header or parameter its dialect sends it. */
  get key(): string | undefined {
    const bearer = this.headers.get('authorization')?.replace(/^Bearer\s+/i, '')
    const named = this.headers.get('api-key') ?? this.headers.get('x-api-key') ?? this.headers.get('x-goog-api-key')
    return bearer ?? named ?? this.query.get('key') ?? undefined
  }
}
