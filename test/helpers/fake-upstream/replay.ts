import { Buffer } from 'node:buffer'
import { loadCase, type RecordingCase, type RecordingEntry } from './recorded-cases.ts'
import { sendBody } from './reply.ts'
import { type FakeUpstream, type FakeUpstreamOptions, startFakeUpstream } from './server.ts'
import { cutBytes, sendPieces } from './sse.ts'
import { type Behaviour, behaviour, type HeaderList } from './types.ts'

/** How a recorded reply is sent. */
interface ReplayOptions extends FakeUpstreamOptions {
  /** One write for everything, per event (SSE block, JSON line, AWS frame), per byte, or per n bytes. */
  readonly chunking?: 'whole' | 'event' | 'byte' | number
}

type Source = RecordingCase | RecordingEntry | string

/** Headers that belong to the recorded connection and not to the reply. */
const DROPPED = new Set([
  'content-length',
  'content-encoding',
  'transfer-encoding',
  'connection',
  'keep-alive',
  'trailer',
  'upgrade',
  'alt-svc',
])

const TYPES: { readonly [kind: string]: string } = {
  json: 'application/json',
  sse: 'text/event-stream; charset=utf-8',
  ndjson: 'application/x-ndjson',
  eventstream: 'application/vnd.amazon.eventstream',
  text: 'text/plain; charset=utf-8',
  binary: 'application/octet-stream',
}

/**
 * Starts a server that responds to any request with the recorded response, and records the requests. With several
 * cases, the n-th request gets the n-th case, and the last case is repeated.
 */
export async function startReplay(
  source: Source | readonly Source[],
  options: ReplayOptions = {},
): Promise<FakeUpstream> {
  const sources = Array.isArray(source) ? source : [source as Source]
  const behaviours = sources.map((one) =>
    replay(typeof one === 'object' && 'response' in one ? one : loadCase(one), options.chunking),
  )
  const upstream = await startFakeUpstream(options)
  const last = behaviours.pop()
  if (!last) throw new Error('nothing to replay')
  upstream.next(...behaviours)
  upstream.always(last)
  return upstream
}

/** A behaviour that sends a recorded response, for custom scripts. */
export function replay(recorded: RecordingCase, chunking: ReplayOptions['chunking'] = 'event'): Behaviour {
  return behaviour(`replay ${recorded.id}`, async (exchange) => {
    const { status, body } = recorded.response
    const headers = replyHeaders(recorded)
    const isStream = recorded.kind === 'sse' || recorded.kind === 'ndjson' || recorded.kind === 'eventstream'
    if (!isStream) return sendBody(exchange, status, body, headers)
    exchange.head(status, headers)
    const pieces = chunking === 'event' ? cutAtEvents(recorded.kind, body) : cutBytes(body, chunking)
    if (await sendPieces(exchange, pieces)) exchange.end()
  })
}

/**
 * Starts a WebSocket server that responds to the first message of each connection with the recorded frames, and then
 * closes the connection.
 */
export function startWebSocketReplay(source: Source): {
  url: string
  port: number
  messages: string[]
  targets: string[]
  close(): Promise<void>
} {
  const recorded = typeof source === 'object' && 'response' in source ? source : loadCase(source)
  const frames = recorded.responseText.split('\n').filter((line) => line.trim() !== '')
  const messages: string[] = []
  const targets: string[] = []
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: (request, self) => {
      targets.push(request.url)
      return self.upgrade(request) ? undefined : new Response('a WebSocket was expected', { status: 426 })
    },
    websocket: {
      message: (socket, message) => {
        messages.push(String(message))
        for (const line of frames) socket.send(line)
        socket.close()
      },
    },
  })
  const port = server.port ?? 0
  return { url: `ws://127.0.0.1:${port}`, port, messages, targets, close: () => server.stop(true) }
}

function replyHeaders(recorded: RecordingCase): HeaderList {
  const kept = Object.entries(recorded.response.headers).filter(
    ([name, value]) => value !== '' && !DROPPED.has(name.toLowerCase()),
  )
  const typed = kept.some(([name]) => name.toLowerCase() === 'content-type')
  return typed ? kept : [...kept, ['content-type', TYPES[recorded.kind] ?? 'application/json']]
}

function cutAtEvents(kind: RecordingCase['kind'], body: Uint8Array): Uint8Array[] {
  const bytes = Buffer.from(body)
  const pieces: Uint8Array[] = []
  let start = 0
  while (start < bytes.length) {
    const end = Math.min(
      bytes.length,
      kind === 'eventstream' ? start + bytes.readUInt32BE(start) : endOfEvent(bytes, start, kind),
    )
    pieces.push(bytes.subarray(start, end))
    start = end
  }
  return pieces
}

function endOfEvent(bytes: Buffer, start: number, kind: RecordingCase['kind']): number {
  const marks = kind === 'ndjson' ? ['\n'] : ['\n\n', '\r\n\r\n']
  const ends = marks.map((mark) => ({ at: bytes.indexOf(mark, start), mark })).filter(({ at }) => at >= 0)
  return ends.reduce((least, { at, mark }) => Math.min(least, at + mark.length), bytes.length)
}
