import { sendJson } from '../helpers/fake-upstream/reply.ts'
import { type Behaviour, behaviour } from '../helpers/fake-upstream/types.ts'
import { type FakeUpstream, startFakeUpstream } from '../helpers/fake-upstream.ts'
import { type ChannelInput, startTestGateway, type TestGateway } from '../helpers/test-gateway.ts'

/** The part of `GET /api/channel/{id}` that the tests read. */
export interface ShownChannel {
  status: number
  balance: number
  balance_updated_time: number
  response_time: number
  test_time: number
  test_error: string
  key_count: number
  keys_dead: number
}

/** A gateway with an upstream, a receiver for notices, and a clock that tests control. */
export interface ChannelRig extends AsyncDisposable {
  gateway: TestGateway
  upstream: FakeUpstream
  /** Receives the notices that are sent to root. Each of its requests is one notice. */
  webhook: FakeUpstream
  time: { ms: number }
  channel(fields?: Partial<ChannelInput> & Record<string, unknown>): Promise<number>
  shown(id: number): Promise<ShownChannel>
  /** Calls the management API as root and returns the whole response body. */
  raw(method: string, path: string, body?: unknown): Promise<Record<string, unknown>>
  /** Makes a chat call for model `m` and returns the response status. */
  chat(): Promise<number>
  /** Resolves once the condition holds. */
  until(condition: () => boolean | Promise<boolean>): Promise<void>
  /** The texts of the notices received until now. */
  notices(): string[]
}

export async function startChannelRig(databaseUrl: string, options: Record<string, string> = {}): Promise<ChannelRig> {
  const upstream = await startFakeUpstream()
  const webhook = await startFakeUpstream()
  webhook.always(json(200, {}))
  const time = { ms: Date.now() }
  const gateway = await startTestGateway({
    ...(databaseUrl.startsWith('postgres') && { databaseUrl }),
    clock: { nowMs: () => time.ms },
  })
  const settings = { ModelRatio: '{"m":1}', NotifyWebhookURL: `${webhook.url}/notices?token=hidden`, ...options }
  for (const [key, value] of Object.entries(settings)) await gateway.setOption(key, value)
  return {
    gateway,
    upstream,
    webhook,
    time,
    channel: (fields = {}) => gateway.addChannel({ base_url: upstream.url, models: 'm', ...fields }),
    shown: (id) => gateway.api<ShownChannel>('GET', `/api/channel/${id}`),
    async raw(method, path, body) {
      const response = await fetch(gateway.url + path, {
        method,
        headers: { authorization: 'testgatewayaccesstoken' },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      })
      return (await response.json()) as Record<string, unknown>
    },
    async chat() {
      const response = await gateway.post('/v1/chat/completions', {
        model: 'm',
        messages: [{ role: 'user', content: 'hi' }],
      })
      await response.text()
      return response.status
    },
    async until(condition) {
      const deadline = Date.now() + 60_000
      while (!(await condition())) {
        if (Date.now() > deadline) throw new Error('waited in vain')
        await new Promise((resolve) => setTimeout(resolve, 5))
      }
    },
    notices: () =>
      webhook.requests.filter((request) => request.bodyComplete).map((request) => Buffer.from(request.body).toString()),
    async [Symbol.asyncDispose]() {
      await gateway.close()
      await upstream.close()
      await webhook.close()
    },
  }
}

/** Responds with the given status and body. */
export function json(status: number, body: unknown): Behaviour {
  return behaviour(`json ${status}`, (exchange) => sendJson(exchange, status, body))
}
