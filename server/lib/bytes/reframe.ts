import { type JsonObject, tryParse } from '../json.ts'

/**
 * Splits a body into messages. `push` receives the next bytes, which may end anywhere, and returns the messages that
 * they complete.
 */
export interface Framing {
  push(bytes: Uint8Array): string[]
  /** Must be called when the body has ended. Returns the remaining messages. */
  finish(): string[]
}

const encoder = new TextEncoder()

/**
 * Converts a response into server-sent events, one for each message that `framing` finds in it. The response is read
 * only as fast as the events are read. If the reader of the events cancels, the response is cancelled. `nameOf` returns
 * the name of each event, for programs that rely on event names.
 */
export function asEvents(
  response: Response,
  framing: Framing,
  nameOf?: (message: string) => string | undefined,
): Response {
  const headers = new Headers(response.headers)
  headers.set('content-type', 'text/event-stream; charset=utf-8')
  headers.delete('content-length')
  const body = response.body && reframed(response.body, framing, nameOf)
  return new Response(body, { status: response.status, statusText: response.statusText, headers })
}

function reframed(
  body: ReadableStream<Uint8Array>,
  framing: Framing,
  nameOf: (message: string) => string | undefined = () => undefined,
): ReadableStream<Uint8Array> {
  const eventOf = (message: string) => {
    const name = nameOf(message)
    return `${name === undefined ? '' : `event: ${name}\n`}data: ${message.replaceAll('\n', '\ndata: ')}\n\n`
  }
  const reader = body.getReader()
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      for (;;) {
        const { done, value } = await reader.read()
        const messages = done ? framing.finish() : framing.push(value)
        if (messages.length > 0) controller.enqueue(encoder.encode(messages.map(eventOf).join('')))
        if (done) controller.close()
        if (done || messages.length > 0) return
      }
    },
    cancel: (reason) => reader.cancel(reason),
  })
}

/**
 * The text that replaces an unreadable message. It is not JSON, so that a reader of the stream recognizes it as
 * unreadable.
 */
export const unreadableMessage = '(unreadable)'

/** The maximum length of a message, in bytes. */
const mostBytes = 64 * 1024 * 1024

/**
 * Reads messages of one line each, as in newline-delimited JSON. Empty lines are skipped, unless `keepsEmpty` is true.
 */
export class LineFraming implements Framing {
  readonly #decoder = new TextDecoder()
  readonly #keepsEmpty: boolean
  #open: string[] = []
  #length = 0

  constructor(keepsEmpty = false) {
    this.#keepsEmpty = keepsEmpty
  }

  push(bytes: Uint8Array): string[] {
    const [first = '', ...rest] = this.#decoder.decode(bytes, { stream: true }).split('\n')
    this.#open.push(first)
    this.#length += first.length
    if (rest.length === 0) return this.#length > mostBytes ? this.#overflow() : []
    const whole = this.#take()
    const last = rest.pop() ?? ''
    this.#open = [last]
    this.#length = last.length
    return [whole, ...rest].flatMap((line) => this.#message(line))
  }

  finish(): string[] {
    const last = this.#take() + this.#decoder.decode()
    return last === '' ? [] : this.#message(last)
  }

  #message(line: string): string[] {
    if (this.#keepsEmpty) return [line.replace(/\r$/, '')]
    const text = line.trim()
    return text === '' ? [] : [text]
  }

  #take(): string {
    const text = this.#open.join('')
    this.#open = []
    this.#length = 0
    return text
  }

  #overflow(): string[] {
    this.#take()
    return [unreadableMessage]
  }
}

/** Reads named server-sent events. Each message is an object with `event` and `data`. Data that is JSON is parsed. */
export class NamedEventFraming implements Framing {
  readonly #lines = new LineFraming(true)
  #event = ''
  #data: string[] = []

  push(bytes: Uint8Array): string[] {
    return this.#lines.push(bytes).flatMap((line) => this.#line(line))
  }

  finish(): string[] {
    return [...this.#lines.finish(), ''].flatMap((line) => this.#line(line))
  }

  #line(line: string): string[] {
    const [, name, value = ''] = /^(event|data):? ?([\s\S]*)$/.exec(line) ?? []
    if (name === 'event') this.#event = value
    if (name === 'data') this.#data.push(value)
    if (line !== '') return []
    const event = this.#event
    const text = this.#data.join('\n')
    const isEmpty = event === '' && this.#data.length === 0
    this.#event = ''
    this.#data = []
    return isEmpty ? [] : [JSON.stringify({ event, data: tryParse(text) ?? text })]
  }
}

/**
 * Converts a response into one JSON object. `whole` creates the object when all messages have arrived. Until then, a
 * space is sent for each piece of the response, so that a client with an idle timeout does not give up. Spaces before
 * the object have no meaning in JSON.
 */
export function asJson(
  response: Response,
  framing: Framing,
  whole: (messages: readonly string[]) => JsonObject,
): Response {
  const headers = new Headers(response.headers)
  headers.set('content-type', 'application/json')
  headers.delete('content-length')
  const reader = response.body?.getReader()
  const messages: string[] = []
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = reader ? await reader.read() : { done: true, value: undefined }
      messages.push(...(value ? framing.push(value) : []))
      if (!done) return controller.enqueue(encoder.encode(' '))
      messages.push(...framing.finish())
      controller.enqueue(encoder.encode(JSON.stringify(whole(messages))))
      controller.close()
    },
    cancel: (reason) => reader?.cancel(reason),
  })
  return new Response(body, { status: response.status, statusText: response.statusText, headers })
}
