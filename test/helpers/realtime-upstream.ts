import type { ServerWebSocket } from 'bun'
import type { SelfSigned } from './fake-upstream/certificate.ts'

type Socket = ServerWebSocket<Connection>

/** One session at the upstream. */
export interface Connection {
  url: URL
  headers: Headers
  /** Everything received, in order. */
  got: (string | Uint8Array)[]
  /** The payloads of the pongs that answered our pings. */
  pongs: string[]
  /** How the session ended. */
  closed: Promise<{ code: number; reason: string }>
  socket: Socket
  send(...events: unknown[]): void
}

type Answer = 'accept' | ((request: Request) => Response)

/** An upstream for OpenAI's Realtime API. The test decides what it sends. */
export interface RealtimeUpstream extends AsyncDisposable {
  url: string
  connections: Connection[]
  /** Requests received, including refused ones. */
  requests: Request[]
  /** Called for each connection, and for each of its messages. */
  onOpen: (connection: Connection) => void
  onMessage: (connection: Connection, message: string | Uint8Array) => void
  /** Responses to the next requests; later requests are accepted. */
  answers: Answer[]
  /** The connection with the given index, as soon as it is established. */
  connection(index?: number): Promise<Connection>
}

/** Opens a session that the gateway must refuse, and returns the gateway's response. */
export async function refusedSession(
  gatewayUrl: string,
  query: string,
  token: string,
  headers: Record<string, string> = {},
  path = '/v1/realtime',
): Promise<{ status: number; code: string; type: string; message: string }> {
  const answer = await fetch(`${gatewayUrl}${path}?${query}`, {
    headers: {
      ...(token !== '' && { authorization: `Bearer ${token}` }),
      connection: 'Upgrade',
      upgrade: 'websocket',
      'sec-websocket-version': '13',
      'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
      ...headers,
    },
  })
  const body = (await answer.json()) as { error: { code: string; type: string; message: string } }
  return { status: answer.status, ...body.error }
}

/** Starts an upstream for the Realtime API, with TLS if a certificate is given. */
export async function startRealtimeUpstream(tls?: SelfSigned): Promise<RealtimeUpstream> {
  const settled = new WeakMap<Connection, (end: { code: number; reason: string }) => void>()
  const upstream: RealtimeUpstream = {
    url: '',
    connections: [],
    requests: [],
    onOpen: (connection) => connection.send({ type: 'session.created', session: { model: 'm' } }),
    onMessage: () => undefined,
    answers: [],
    async connection(index = 0) {
      for (;;) {
        const found = upstream.connections[index]
        if (found) return found
        await new Promise((resolve) => setTimeout(resolve, 2))
      }
    },
    [Symbol.asyncDispose]: async () => {
      await server.stop(true)
    },
  }
  const server = Bun.serve<Connection>({
    port: 0,
    hostname: '127.0.0.1',
    ...(tls && { tls: { cert: tls.certificate, key: tls.key } }),
    fetch(request, bun) {
      // The headers are copied, because Bun clears the request when the connection is upgraded to a WebSocket.
      const headers = new Headers(request.headers)
      upstream.requests.push(new Request(request.url, { headers }))
      const answer = upstream.answers.shift() ?? 'accept'
      if (answer !== 'accept') return answer(request)
      const { promise, resolve } = Promise.withResolvers<{ code: number; reason: string }>()
      const connection = {
        url: new URL(request.url),
        headers,
        got: [],
        pongs: [],
        closed: promise,
      } as Partial<Connection>
      settled.set(connection as Connection, resolve)
      return bun.upgrade(request, { data: connection as Connection })
        ? undefined
        : new Response('no WebSocket', { status: 400 })
    },
    websocket: {
      maxPayloadLength: 64 * 1024 * 1024,
      backpressureLimit: 0,
      open(ws) {
        const connection = ws.data
        connection.socket = ws
        connection.send = (...events) => {
          for (const event of events) ws.send(typeof event === 'string' ? event : JSON.stringify(event))
        }
        upstream.connections.push(connection)
        upstream.onOpen(connection)
      },
      message(ws, message) {
        ws.data.got.push(message)
        upstream.onMessage(ws.data, message)
      },
      pong(ws, data) {
        ws.data.pongs.push(String(data))
      },
      close: (ws, code, reason) => settled.get(ws.data)?.({ code, reason }),
    },
  })
  upstream.url = `${tls ? 'https' : 'http'}://127.0.0.1:${server.port}`
  return upstream
}

/** The caller's side of a session. */
export interface RealtimeCaller {
  socket: WebSocket
  /** Everything received, in order. */
  got: (string | Uint8Array)[]
  closed: Promise<{ code: number; reason: string }>
  send(event: unknown): void
  /** The event with the given type and index, as soon as it has arrived. Rejects if the connection ends first. */
  event(type: string, index?: number): Promise<Record<string, unknown>>
}

/** Opens a session at a gateway. Rejects if it is refused. */
export async function openSession(
  url: string,
  token: string,
  query = 'model=m',
  options: { protocols?: string[]; headers?: Record<string, string>; path?: string } = {},
): Promise<RealtimeCaller> {
  const socket = new WebSocket(`${url.replace('http', 'ws')}${options.path ?? '/v1/realtime'}?${query}`, {
    ...(options.protocols && { protocols: options.protocols }),
    headers: { ...(token !== '' && { authorization: `Bearer ${token}` }), ...options.headers },
  })
  socket.binaryType = 'arraybuffer'
  const got: (string | Uint8Array)[] = []
  let end: { code: number; reason: string } | undefined
  let wake = () => {}
  const closed = new Promise<{ code: number; reason: string }>((resolve) => {
    socket.addEventListener('close', ({ code, reason }) => {
      end = { code, reason }
      resolve(end)
      wake()
    })
  })
  socket.addEventListener('message', ({ data }) => {
    got.push(typeof data === 'string' ? data : new Uint8Array(data as ArrayBuffer))
    wake()
  })
  await new Promise<void>((resolve, reject) => {
    socket.addEventListener('open', () => resolve())
    socket.addEventListener('error', () => reject(new Error('the session was refused')))
  })
  return {
    socket,
    got,
    closed,
    send: (event) => socket.send(typeof event === 'string' ? event : JSON.stringify(event)),
    async event(type, index = 0) {
      for (;;) {
        const events = got.filter((each): each is string => typeof each === 'string').map((each) => JSON.parse(each))
        const found = events.filter((each) => each.type === type)[index]
        if (found) return found
        if (end) throw new Error(`the session ended (${end.code} ${end.reason}) before ${type}`)
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
    },
  }
}

/** A complete response as the upstream reports it. */
export function response(
  id: string,
  usage: unknown,
  { text = '', status = 'completed' }: { text?: string; status?: string } = {},
): unknown[] {
  return [
    { type: 'response.created', event_id: 'e1', response: { id, status: 'in_progress' } },
    ...(text === '' ? [] : [{ type: 'response.output_text.delta', event_id: 'e2', response_id: id, delta: text }]),
    { type: 'response.done', event_id: 'e3', response: { id, status, usage } },
  ]
}

/** A usage report with only text tokens. */
export function textUsage(input: number, output: number): Record<string, number> {
  return { total_tokens: input + output, input_tokens: input, output_tokens: output }
}
