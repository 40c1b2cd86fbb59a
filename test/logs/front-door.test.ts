// The log and usage calls of a whole gateway over HTTP: behaviour that can only be tested with a real start, a real
// socket and a killed process.
import { expect, test } from 'bun:test'
import type { Log } from '../../contract/api/log.ts'
import type { Usage } from '../../contract/api/usage.ts'
import { logRow } from '../helpers/accounts.ts'
import { forEachDatabaseUrl } from '../helpers/databases.ts'
import { ok, startFakeUpstream } from '../helpers/fake-upstream.ts'
import { type GatewayProcess, Installation } from '../helpers/gateway-process.ts'
import { startTestGateway, type TestGateway } from '../helpers/test-gateway.ts'
import { answer, installFor, messages, model, newToken, pricePerCall, promptTokens } from '../money/installed.ts'

forEachDatabaseUrl((kind, freshUrl) => {
  // Without a URL, a gateway creates its own SQLite file.
  const urlOf = async () => (kind === 'postgres' ? await freshUrl() : undefined)
  const start = async (): Promise<TestGateway> => {
    const databaseUrl = await urlOf()
    return startTestGateway(databaseUrl === undefined ? {} : { databaseUrl })
  }

  test('usage matches the rows after relayed calls, a kill in the middle of calls, and a restart', async () => {
    await using upstream = await startFakeUpstream()
    upstream.always(ok({ text: answer, promptTokens }))
    await using installation = new Installation(await urlOf())
    let gateway = await installation.start()
    await installFor(gateway, upstream.url)
    const token = await newToken(gateway)
    const call = () =>
      gateway.post('/v1/chat/completions', { model, messages }, token.key).then((response) => response.text())
    await Promise.all(Array.from({ length: 20 }, call))
    await expectUsageOfRows(gateway, 20)

    let answered = 0
    const killed = Promise.all(
      Array.from({ length: 60 }, () =>
        call().then(
          () => answered++,
          () => undefined,
        ),
      ),
    )
    while (answered < 10) await new Promise((resolve) => setImmediate(resolve))
    await gateway.kill()
    await killed
    gateway = await installation.start()
    const rows = await expectUsageOfRows(gateway, 30)
    expect(rows).toBeLessThanOrEqual(80)
    expect((await installation.run('audit')).output).toContain(' 0 faults.')
  }, 120_000)

  test('a CSV export breaks off if the database fails, and an export whose reader disconnects no longer counts towards the limit', async () => {
    await using gate = await start()
    const row = { ...logRow({ userId: 1, tokenId: 1, channelId: 1 }), content: 'x'.repeat(300), quota: 0 }
    for (let step = 0; step < 60; step++) {
      await gate.context.store.write((trx) =>
        trx
          .insertInto('logs')
          .values(Array.from({ length: 400 }, () => row))
          .execute(),
      )
    }
    const open = async () => {
      const abort = new AbortController()
      const response = await fetch(`${gate.url}/api/log/export`, {
        headers: { authorization: 'testgatewayaccesstoken' },
        signal: abort.signal,
      })
      return { response, leave: () => abort.abort() }
    }
    const readers = [await open(), await open()]
    expect((await open()).response.status).toBe(429)
    readers[0]?.leave()
    let next = await open()
    while (next.response.status === 429) next = await open()

    const reader = next.response.body?.getReader()
    await reader?.read()
    await gate.context.store.write((trx) => trx.schema.alterTable('logs').renameTo('gone').execute())
    const rest = async () => {
      while (!(await reader?.read())?.done);
    }
    await expect(rest()).rejects.toThrow()
    readers[1]?.leave()
  }, 120_000)

  test('open live logs do not delay the shutdown of the process', async () => {
    await using installation = new Installation(await urlOf(), { DRAIN_TIMEOUT: '3600' })
    const gateway = await installation.start()
    const response = await fetch(`${gateway.url}/api/log/stream`, {
      headers: { authorization: 'gatewayprocessaccesstoken' },
    })
    const reader = response.body?.getReader()
    await reader?.read()
    const ended = gateway.stop()
    let text = ''
    for (;;) {
      const step = await reader?.read()
      if (!step || step.done) break
      text += new TextDecoder().decode(step.value)
    }
    expect(text).toContain('shutting-down')
    expect(await ended).toBe(0)
  }, 120_000)

  test('live logs show relayed calls, and a live log whose reader has disconnected no longer counts towards the limit', async () => {
    await using upstream = await startFakeUpstream()
    upstream.always(ok({ text: answer, promptTokens }))
    await using gate = await start()
    await gate.addChannel({ base_url: upstream.url })
    const open = async () => {
      const abort = new AbortController()
      const response = await fetch(`${gate.url}/api/log/self/stream`, {
        headers: { authorization: 'testgatewayaccesstoken' },
        signal: abort.signal,
      })
      return { response, leave: () => abort.abort() }
    }
    const readers = await Promise.all([open(), open(), open(), open()])
    expect((await open()).response.status).toBe(429)
    for (const each of readers.slice(1)) each.leave()
    let next = await open()
    while (next.response.status === 429) next = await open()

    expect((await gate.post('/v1/chat/completions', { model, messages })).status).toBe(200)
    const reader = next.response.body?.getReader()
    let text = ''
    while (!text.includes('data: ')) text += new TextDecoder().decode((await reader?.read())?.value)
    expect(JSON.parse(/^data: (.*)$/m.exec(text)?.[1] ?? '')).toMatchObject({ model_name: model, outcome: 'complete' })
    next.leave()
    readers[0]?.leave()
  }, 120_000)
})

/** Compares the usage with all rows of the list, and returns the number of rows. */
async function expectUsageOfRows(gateway: GatewayProcess, least: number): Promise<number> {
  const logs: Log[] = []
  for (let page = 0; ; page++) {
    const rows = await gateway.api<Log[]>('GET', `/api/log/?type=2&size=100&p=${page}`)
    logs.push(...rows)
    if (rows.length < 100) break
  }
  expect(logs.length).toBeGreaterThanOrEqual(least)
  const sum = (value: (log: Log) => number) => logs.reduce((total, log) => total + value(log), 0)
  const usage = await gateway.api<Usage>('GET', '/api/usage/?group_by=model&rollup=hour')
  expect(usage.total).toMatchObject({
    requests: logs.length,
    quota: sum((log) => log.quota),
    prompt_tokens: sum((log) => log.prompt_tokens),
    completion_tokens: sum((log) => log.completion_tokens),
  })
  expect(usage.values.reduce((total, value) => total + value, 0)).toBe(usage.total.quota)
  expect(usage.groups).toMatchObject([{ key: model, total: usage.total }])
  expect(usage.total.quota).toBeGreaterThanOrEqual(least * pricePerCall)
  return logs.length
}
