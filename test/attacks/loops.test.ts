// Channels that lead back to the gateway that calls them.
import { expect, setDefaultTimeout, test } from 'bun:test'
import { okChat, startFakeUpstream } from '../helpers/fake-upstream.ts'
import { startTestGateway } from '../helpers/test-gateway.ts'

setDefaultTimeout(120_000)

const other = { env: { SECRET_KEY: 'the secret key of another gateway' } }
const prices = async (...gateways: Awaited<ReturnType<typeof startTestGateway>>[]) => {
  for (const gateway of gateways) await gateway.setOption('ModelRatio', '{"m":1}')
}
const chat = { model: 'm', messages: [{ role: 'user', content: 'Hi' }] }
const message = { ...chat, max_tokens: 5 }
const contents = { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] }
const calls = [
  ['/v1/chat/completions', chat],
  ['/v1/chat/completions', { ...chat, stream: true }],
  ['/v1/responses', { model: 'm', input: 'Hi' }],
  ['/v1/messages', message],
  ['/v1beta/models/m:generateContent', contents],
  ['/v1/embeddings', { model: 'm', input: 'Hi' }],
] as const

test('a channel that leads back to its own gateway is detected on the first call, and nothing is charged', async () => {
  await using gateway = await startTestGateway()
  await prices(gateway)
  await gateway.addChannel({ base_url: gateway.url, key: gateway.token, models: 'm' })
  for (const [path, body] of calls) {
    const answer = await gateway.post(path, body)
    expect([path, answer.status]).toEqual([path, 508])
    expect(await answer.text()).toContain('already passed through this gateway')
  }
  const rows = (await gateway.logs()).filter(({ quota }) => quota > 0)
  expect(rows).toEqual([])
})

test('a loop of two gateways is stopped when the call returns to the first', async () => {
  await using one = await startTestGateway()
  await using two = await startTestGateway(other)
  await prices(one, two)
  await one.addChannel({ base_url: two.url, key: two.token, models: 'm' })
  await two.addChannel({ base_url: one.url, key: one.token, models: 'm' })
  expect((await one.post('/v1/chat/completions', chat)).status).toBe(508)
})

test('a chain of two gateways works, and its last call lists both gateways', async () => {
  await using upstream = await startFakeUpstream()
  await using one = await startTestGateway()
  await using two = await startTestGateway(other)
  await prices(one, two)
  await one.addChannel({ base_url: two.url, key: two.token, models: 'm' })
  await two.addChannel({ base_url: upstream.url, models: 'm' })
  upstream.always(okChat({ text: 'Hello.' }))
  const answer = await one.post('/v1/chat/completions', chat)
  expect(answer.status).toBe(200)
  expect(upstream.last.headers.get('x-tollgate-via')?.split(', ')).toHaveLength(2)
})

test('a chain of more than 20 gateways is refused because of its length, not because of a loop', async () => {
  await using gateway = await startTestGateway()
  const through = (length: number) => {
    const via = Array.from({ length }, (_, at) => `id${at}`).join(',')
    return gateway.post('/v1/chat/completions', chat, gateway.token, { headers: { 'x-tollgate-via': via } })
  }
  const answer = await through(21)
  expect(answer.status).toBe(508)
  const text = await answer.text()
  expect(text).toContain('this request has passed through 21 gateways')
  expect(text).not.toContain('before')
  expect((await through(20)).status).not.toBe(508)
})
