import { isEventStream, SseSplitter } from '../../lib/bytes/sse.ts'

const encoder = new TextEncoder()

/**
 * Rewrites a stream of events as one JSON array, element by element. This is how Google's API responds to
 * `streamGenerateContent` without `alt=sse`. Responses that are not streams, such as errors, are returned unchanged.
 */
export function asArray(response: Response): Response {
  if (!isEventStream(response.headers) || !response.body) return response
  const headers = new Headers(response.headers)
  headers.set('content-type', 'application/json; charset=UTF-8')
  const elements = new ArrayElements(response.body)
  return new Response(elements as unknown as ReadableStream, { status: response.status, headers })
}

/** An iterator object and not a generator, because the runtime must be able to end it before its first step. */
class ArrayElements implements AsyncIterableIterator<Uint8Array> {
  readonly #reader: {
    read(): Promise<{ done: boolean; value?: Uint8Array | undefined }>
    cancel(): Promise<void>
  }
  readonly #splitter = new SseSplitter()
  #begun = false
  #ended = false

  constructor(body: ReadableStream<Uint8Array>) {
    this.#reader = body.getReader()
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  async next(): Promise<IteratorResult<Uint8Array>> {
    while (!this.#ended) {
      const { done, value } = await this.#reader.read()
      this.#ended = done
      const text = done ? this.#end() : value ? this.#elements(value) : ''
      if (text !== '') return { done: false, value: encoder.encode(text) }
    }
    return { done: true, value: undefined }
  }

  async return(): Promise<IteratorResult<Uint8Array>> {
    this.#ended = true
    await this.#reader.cancel()
    return { done: true, value: undefined }
  }

  #elements(bytes: Uint8Array): string {
    const { events } = this.#splitter.push(bytes)
    const texts: string[] = []
    for (const { data, lines } of events) {
      if (data === undefined) continue
      // The stream contains an error twice, the second time as bare JSON (`googleErrorEvents`). Write it only once.
      const isRepeated = lines !== undefined && data === texts.at(-1)
      if (!isRepeated) texts.push(data)
    }
    // In an array, a keep-alive is written as white space.
    if (texts.length === 0) return this.#begun || events.length > 0 ? '\n' : ''
    return texts.map((text) => this.#element(text)).join('')
  }

  #element(text: string): string {
    const before = this.#begun ? ',\n' : '['
    this.#begun = true
    return before + text
  }

  #end(): string {
    return this.#begun ? ']' : '[]'
  }
}
