import { type StreamOptions, streamEvents, streamHeaders } from './chat.ts'
import { openAiError } from './errors.ts'
import { settle } from './faults.ts'
import { sendBody } from './reply.ts'
import { sendEvents, sseEvent } from './sse.ts'
import { type Behaviour, behaviour, type Exchange, pause } from './types.ts'

/** A stream that fails after this many content events. */
export interface FaultyStream extends StreamOptions {
  /** How many events are sent properly before the fault. Default: 3. */
  readonly after?: number
  /**
   * When the connection is cut. Default: 20 ms after the events. A reset can discard events that the gateway has not
   * read, so a test that needs the events resolves this when they have reached the caller.
   */
  readonly when?: Promise<unknown>
}

/** Cuts the stream in the middle: FIN, RST of the connection, or RST_STREAM over HTTP/2. */
export function cutsStream(how: 'fin' | 'reset' | 'stream-reset', options: FaultyStream = {}): Behaviour {
  return behaviour(`cutsStream ${how}`, async (exchange) => {
    if (!(await begin(exchange, options))) return
    await (options.when ?? settle())
    if (how === 'fin') exchange.fin()
    else if (how === 'stream-reset' && exchange.h2) exchange.h2.resetStream(2)
    else exchange.reset()
  })
}

/** Ends the HTTP response properly in the middle of the content, without a finish_reason or `[DONE]`. */
export function endsEarly(options: FaultyStream = {}): Behaviour {
  return behaviour('endsEarly', async (exchange) => {
    if (await begin(exchange, options)) exchange.end()
  })
}

/** Cuts the stream inside an event, so that the last thing sent is half a JSON object. */
export function cutsInsideEvent(how: 'fin' | 'reset' | 'end' = 'fin', options: FaultyStream = {}): Behaviour {
  return behaviour(`cutsInsideEvent ${how}`, async (exchange) => {
    if (!(await begin(exchange, options))) return
    await exchange.write('data: {"id":"chatcmpl-fake","choices":[{"index":0,"delta":{"content":"hal')
    await (options.when ?? settle())
    if (how === 'end') exchange.end()
    else if (how === 'fin') exchange.fin()
    else exchange.reset()
  })
}

/** Sends a few events and then stalls, either forever or for `forMs`, after which it sends the rest. */
export function stallsStream(options: FaultyStream & { readonly forMs?: number } = {}): Behaviour {
  return behaviour('stallsStream', async (exchange) => {
    if (!(await begin(exchange, options))) return
    if (options.forMs === undefined) return exchange.hang()
    await pause(options.forMs, exchange.callerLeft)
    const rest = streamEvents(exchange, { chunks: 20, ...options }).slice(options.after ?? 3)
    if (await sendEvents(exchange, rest, options.style ?? {}, options)) exchange.end()
  })
}

/** Sends the headers of a stream, but no event. */
export function stallsBeforeFirstEvent(): Behaviour {
  return stallsStream({ after: 0 })
}

/** A complete stream that ends properly, but without `[DONE]`. */
export function noDone(options: StreamOptions = {}): Behaviour {
  const { run } = okStreamOf({ ...options, done: false })
  return behaviour('noDone', run)
}

/** Sends an event that is not JSON, then continues the stream. */
export function badJsonChunk(options: FaultyStream = {}): Behaviour {
  return withEvent('badJsonChunk', '{"id":"chatcmpl-fake","choices":[{"index":0,"delta":', options, true)
}

/**
 * Sends `data: {"error":…}` in a stream with status 200. With `after: 0` it is the first event. The stream ends after
 * it, with or without `[DONE]`.
 */
export function errorEvent(options: FaultyStream & { readonly message?: string } = {}): Behaviour {
  const message = options.message ?? 'The server had an error while processing your request.'
  return withEvent('errorEvent', openAiError(500, { message }), options, false)
}

/** Sends one event on a single line of this many bytes (default 20 MB) among ordinary events. */
export function hugeEvent(bytes = 20 * 1024 * 1024, options: FaultyStream = {}): Behaviour {
  const delta = { content: 'x'.repeat(bytes) }
  return withEvent(
    'hugeEvent',
    { id: 'chatcmpl-fake', object: 'chat.completion.chunk', choices: [{ index: 0, delta }] },
    options,
    true,
  )
}

/** Sends events as fast as the caller reads them, forever. */
export function endlessStream(wordsPerEvent = 1): Behaviour {
  return behaviour('endlessStream', async (exchange) => {
    exchange.head(200, streamHeaders())
    const content = 'word '.repeat(wordsPerEvent)
    const event = sseEvent({
      id: 'chatcmpl-fake',
      object: 'chat.completion.chunk',
      choices: [{ index: 0, delta: { content } }],
    })
    while (await exchange.write(event)) await new Promise((resolve) => setImmediate(resolve))
  })
}

/** Responds to a stream request with one plain JSON completion, as services without streaming do. */
export function plainToStream(): Behaviour {
  return behaviour('plainToStream', (exchange) => {
    const message = { role: 'assistant', content: 'Hello from the fake upstream.' }
    const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 }
    const body = {
      id: 'chatcmpl-fake',
      object: 'chat.completion',
      choices: [{ index: 0, message, finish_reason: 'stop' }],
      usage,
    }
    return sendBody(exchange, 200, JSON.stringify(body), [['content-type', 'application/json']])
  })
}

function okStreamOf(options: StreamOptions): Behaviour {
  return behaviour('stream', async (exchange) => {
    exchange.head(200, streamHeaders(options.headers))
    if (await sendEvents(exchange, streamEvents(exchange, options), options.style ?? {}, options)) exchange.end()
  })
}

/** Sends the headers and the first events. */
async function begin(exchange: Exchange, options: FaultyStream): Promise<boolean> {
  exchange.head(200, streamHeaders(options.headers))
  const events = streamEvents(exchange, { chunks: 20, ...options }).slice(0, options.after ?? 3)
  return sendEvents(exchange, events, options.style ?? {}, options)
}

/** A stream with one additional event, after which it continues or ends. */
function withEvent(name: string, event: unknown, options: FaultyStream, goesOn: boolean): Behaviour {
  return behaviour(name, async (exchange) => {
    if (!(await begin(exchange, options))) return
    const rest = streamEvents(exchange, { chunks: 20, ...options }).slice(options.after ?? 3)
    const after = goesOn ? rest : options.done ? ['[DONE]'] : []
    if (await sendEvents(exchange, [event, ...after], options.style ?? {}, options)) exchange.end()
  })
}
