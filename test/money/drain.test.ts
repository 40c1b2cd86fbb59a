import { expect, test } from 'bun:test'
import { openStore } from '../../server/store/open.ts'
import { forEachDatabaseUrl } from '../helpers/databases.ts'
import { behaviour, startFakeUpstream, streamHeaders } from '../helpers/fake-upstream.ts'
import { Installation } from '../helpers/gateway-process.ts'
import { installFor, messages, model, newToken } from './installed.ts'

const streams = 20

forEachDatabaseUrl((name, freshUrl) => {
  test('SIGTERM charges the calls that it cuts off, and leaves no hold behind', async () => {
    await using upstream = await startFakeUpstream()
    upstream.always(
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
    const token = await newToken(gateway, 1_000_000)
    const store = openStore({ url: installation.databaseUrl })
    const bodies = await Promise.all(
      Array.from({ length: streams }, async () => {
        const response = await gateway.post('/v1/chat/completions', { model, messages, stream: true }, token.key)
        const reader = response.body?.getReader()
        await reader?.read()
        return reader
      }),
    )
    expect(await gateway.stop()).toBe(0)
    for (const body of bodies) await body?.cancel().catch(() => undefined)
    const logs = await store.read.selectFrom('logs').selectAll().where('type', '=', 2).execute()
    expect(logs.map((log) => `${log.outcome} ${log.completion_tokens} ${Boolean(log.estimated)}`)).toEqual(
      Array(streams).fill('aborted 2 true'),
    )
    expect(await store.read.selectFrom('holds').select('id').execute()).toEqual([])
    expect(await store.read.selectFrom('nodes').select('id').execute()).toEqual([])
    await store.close()
    expect((await installation.run('audit')).code).toBe(0)
  }, 120_000)
})
