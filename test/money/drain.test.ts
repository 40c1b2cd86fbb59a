import { expect, test } from 'bun:test'
import { openStore } from '../../server/store/connection/open.ts'
import { forEachDatabaseUrl } from '../helpers/databases.ts'
import { behaviour, neverAnswers, startFakeUpstream, streamHeaders } from '../helpers/fake-upstream.ts'
import { Installation } from '../helpers/gateway-process.ts'
import { startTestGateway } from '../helpers/test-gateway.ts'
import { installFor, messages, model, newToken } from './installed.ts'

const streams = 20
const plainModel = 'gpt-4o-mini'

test('if a call would start its next attempt during a shutdown, it is not sent, and its error says that the gateway is shutting down', async () => {
  await using upstream = await startFakeUpstream()
  await using gateway = await startTestGateway()
  await gateway.addChannel({ base_url: upstream.url, models: model, key: 'bad', priority: 1 })
  await gateway.addChannel({ base_url: upstream.url, models: model, key: 'good' })
  await gateway.setOption('RetryTimes', '1')
  upstream.forKey(
    'bad',
    behaviour('fails, and all is cut off', async (exchange) => {
      exchange.head(503)
      await exchange.write('{}')
      exchange.end()
      gateway.context.relay.relay.random = () => {
        // The gateway calls this function between two attempts, to choose the waiting time. At this moment, the test
        // cuts off all calls.
        void gateway.context.cutOff()
        return 0
      }
    }),
  )
  const caller = await gateway.addCaller({ user: 1000, token: 1000 })
  const response = await gateway.post('/v1/chat/completions', { model, messages }, caller.token)
  expect([response.status, await response.text()]).toEqual([503, expect.stringContaining('shutting_down')])
  expect(upstream.requests).toHaveLength(1)
  expect(await gateway.balances(caller.userId, caller.tokenId)).toMatchObject({ quota: 1000, used: 0, holds: 0 })
})

forEachDatabaseUrl((name, freshUrl) => {
  test('on SIGTERM, callers whose calls are cut off are informed and charged for what they received, and no hold is left', async () => {
    await using upstream = await startFakeUpstream()
    upstream.forModel(plainModel, neverAnswers())
    upstream.forModel(
      model,
      behaviour('two words, then silence', async (exchange) => {
        exchange.head(200, streamHeaders())
        const chunk = { object: 'chat.completion.chunk', choices: [{ index: 0, delta: { content: 'two words' } }] }
        await exchange.write(`data: ${JSON.stringify(chunk)}\n\n`)
        exchange.hang()
      }),
    )
    await using installation = new Installation(name === 'postgres' ? await freshUrl() : undefined, {
      DRAIN_TIMEOUT: '0',
    })
    const gateway = await installation.start()
    await installFor(gateway, upstream.url)
    const channel = { type: 1, name: 'plain', key: 'plain-key', base_url: upstream.url, models: plainModel }
    await gateway.api('POST', '/api/channel/', { ...channel, group: 'default' })
    const token = await newToken(gateway, 1_000_000)
    const store = openStore({ url: installation.databaseUrl })
    const bodies = await Promise.all(
      Array.from({ length: streams }, async () => {
        const response = await gateway.post('/v1/chat/completions', { model, messages, stream: true }, token.key)
        const reader = response.body?.getReader()
        await reader?.read()
        return async () => {
          let text = ''
          for (let step = await reader?.read(); step && !step.done; step = await reader?.read())
            text += new TextDecoder().decode(step.value)
          return text
        }
      }),
    )
    const plain = Array.from({ length: 5 }, () =>
      gateway.post('/v1/chat/completions', { model: plainModel, messages }, token.key),
    )
    await upstream.received(streams + plain.length)
    const ended = gateway.stop()
    for (const rest of bodies) expect(await rest()).toContain('"code":"shutting_down"')
    for (const response of await Promise.all(plain)) {
      expect(response.status).toBe(503)
      expect(await response.text()).toContain('"code":"shutting_down"')
    }
    expect(await ended).toBe(0)
    const logs = await store.read.selectFrom('logs').selectAll().where('type', '=', 2).execute()
    expect(logs.map((log) => `${log.outcome} ${log.completion_tokens} ${Boolean(log.estimated)}`)).toEqual(
      Array(streams).fill('interrupted 2 true'),
    )
    expect(await store.read.selectFrom('holds').select('id').execute()).toEqual([])
    expect(await store.read.selectFrom('nodes').select('id').execute()).toEqual([])
    await store.close()
    expect((await installation.run('audit')).code).toBe(0)
  }, 120_000)
})
