import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { createSecrets } from '../../server/lib/secrets/secrets.ts'
import * as fake from '../helpers/fake-upstream.ts'
import { openServerDatabase } from '../helpers/server-database.ts'
import { type ChildGateway, startChildGateway } from './child-gateway.ts'
import { chat, chatStream, type Seen, see, until } from './setup.ts'

// The gateway runs in a separate process, so that everything it writes to its log can be read.
let gateway: ChildGateway
let upstream: fake.FakeUpstream
const seen: Seen[] = []

const channelKey = 'sk-proj-channel/key+that-is-secret-1234567890'
const rootPassword = 'child root password'
const secretKey = 'secret key of the child gateway'
const prompt = 'the words of the caller are nobody else’s'

beforeAll(async () => {
  upstream = await fake.startFakeUpstream()
  gateway = await startChildGateway({ env: { LOG_LEVEL: 'debug' } })
  for (const [key, value] of [
    ['ModelRatio', '{"m":1}'],
    ['AutomaticDisableChannelEnabled', 'false'],
    ['FirstByteTimeout', '2'],
  ])
    await gateway.api('PUT', '/api/option/', { key, value })
  const channel = { type: 1, name: 'secretive', group: 'default', key: channelKey }
  await gateway.api('POST', '/api/channel/', { ...channel, base_url: upstream.url, models: 'm' })
  await gateway.api('POST', '/api/channel/', {
    ...channel,
    base_url: `http://127.0.0.1:${await fake.closedPort()}`,
    models: 'm-refused',
  })
})
afterAll(async () => {
  await gateway[Symbol.asyncDispose]()
  await upstream.close()
})

/** An error that repeats the key that the upstream received, as some upstreams do. */
const echo = `Incorrect API key provided: ${channelKey}. You can find your key at https://upstream.example.`
/** The same error as JSON, with the escapes that some upstreams use. */
const escapedEcho = JSON.stringify({ error: { message: echo, type: 'invalid_request_error', code: null } })
  .replaceAll('/', String.raw`\/`)
  .replaceAll('+', String.raw`\u002b`)
const says = (status: number, type: string, text: string) =>
  fake.behaviour('says', async (exchange) => {
    exchange.head(status, [['content-type', type]])
    await exchange.write(text)
    exchange.end()
  })
const firstChunk = 'data: {"choices":[{"index":0,"delta":{"content":"Hel"}}]}\n\n'
const behaviours: readonly (readonly [fake.Behaviour, object])[] = [
  [fake.status(401, { message: echo }), chat],
  [fake.status(401, { message: echo, code: `code-${channelKey}` }), chatStream],
  [fake.status(500, { message: `The request with ${channelKey} failed.` }), chat],
  [fake.jsonError200(echo), chat],
  [fake.errorEvent({ after: 0, message: echo }), chatStream],
  [fake.errorEvent({ after: 2, message: echo }), chatStream],
  [says(401, 'application/json', escapedEcho), chat],
  [says(200, 'text/event-stream', `${firstChunk}data: ${escapedEcho}\n\n`), chatStream],
  [fake.resetsBeforeHeaders(), chat],
  [fake.neverAnswers(), chat],
  [fake.cutsStream('fin', { after: 2 }), chatStream],
  [fake.html200(), chat],
  [fake.ok(), chat],
]

function call(body: object, token = gateway.token): Promise<Seen> {
  const messages = [{ role: 'user', content: prompt }]
  return see(
    gateway.post('/v1/chat/completions', { ...body, messages }, { headers: { authorization: `Bearer ${token}` } }),
  )
}

describe('secrets are not shown', () => {
  test('to callers, whatever the upstream sends', async () => {
    for (const [behaviour, body] of behaviours) {
      upstream.next(behaviour)
      seen.push(await call(body))
    }
    seen.push(await call({ ...chat, model: 'm-refused' }))
    seen.push(await call(chat, 'sk-wrong-token-that-is-somebodys-9876543210'))
    seen.push(await call(chat, `${gateway.token}-999`))
    expect(seen.filter(({ status }) => status === 200)).toHaveLength(4)
    for (const { text, headers } of seen) {
      const all =
        text.replaceAll(String.raw`\/`, '/').replaceAll(String.raw`\u002b`, '+') + JSON.stringify([...headers])
      for (const secret of [channelKey, gateway.token.slice(3), secretKey, rootPassword, gateway.folder])
        expect(all).not.toContain(secret)
      expect(all).not.toMatch(/\bat .+\.ts:\d+/)
    }
    expect(seen[2]?.error?.message).toContain('The request with [key] failed.')
  })

  test('in log rows', async () => {
    // A test of the channel writes its own row.
    upstream.next(fake.status(401, { message: echo }))
    await gateway.api('GET', '/api/channel/test/1').catch(() => undefined)
    const rows = JSON.stringify(await gateway.api('GET', '/api/log/'))
    expect(rows).toContain('interrupted')
    for (const secret of [channelKey, gateway.token.slice(3), secretKey, rootPassword, prompt])
      expect(rows).not.toContain(secret)
  })

  test('in the gateway’s own log', async () => {
    await until(() => gateway.output().includes('attempt failed'))
    for (const secret of [
      channelKey,
      gateway.token.slice(3),
      'somebodys-9876543210',
      secretKey,
      rootPassword,
      prompt,
      'childgatewayaccesstoken',
    ])
      expect(gateway.output()).not.toContain(secret)
  })

  test('in the gateway’s own log, even if a network error repeats an invalid key', async () => {
    const inAddress = 'sk-proj-in-the-address-0987654321.invalid'
    const twoLines = 'sk-proj-first-1234567890\nsk-proj-second-1234567890'
    const channel = { type: 1, name: 'odd', group: 'default' }
    const address = { base_url: `https://${inAddress}`, key: inAddress, models: 'm-address' }
    await gateway.api('POST', '/api/channel/', { ...channel, ...address })
    const lines = { base_url: upstream.url, key: channelKey, models: 'm-lines' }
    const [id] = await gateway.api<number[]>('POST', '/api/channel/', { ...channel, ...lines })
    {
      using database = openServerDatabase(join(gateway.folder, 'tollgate.db'))
      const sealed = createSecrets(secretKey).seal(twoLines, 'channel')
      database.run('UPDATE channels SET key = ? WHERE id = ?', [sealed, id ?? 0])
    }
    await gateway.api('PUT', '/api/channel/', { id, name: 'imported' })
    await gateway.api('PUT', '/api/option/', { key: 'ModelRatio', value: '{"m":1,"m-address":1,"m-lines":1}' })
    for (const model of ['m-address', 'm-lines']) {
      expect((await call({ ...chat, model })).error?.code).toBe('do_request_failed')
      await until(() => new RegExp(`"${model}".*attempt failed`).test(gateway.output()))
    }
    for (const secret of [inAddress, ...twoLines.split('\n')]) expect(gateway.output()).not.toContain(secret)
  })
})
