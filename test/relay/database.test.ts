import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import * as fake from '../helpers/fake-upstream.ts'
import { type Bench, charged, chat, chatStream, eventsOf, expectError, see, startBench, until } from './setup.ts'

let bench: Bench

beforeAll(async () => {
  bench = await startBench()
})
afterAll(() => bench[Symbol.asyncDispose]())

/** Takes a table away under the running gateway, and gives it back. */
function without(table: string): Disposable {
  const database = new Database(bench.gateway.config.databaseUrl)
  database.run('PRAGMA busy_timeout = 5000')
  database.run('PRAGMA legacy_alter_table = ON')
  database.run(`ALTER TABLE ${table} RENAME TO ${table}_gone`)
  return {
    [Symbol.dispose]() {
      database.run(`ALTER TABLE ${table}_gone RENAME TO ${table}`)
      database.close()
    },
  }
}

describe('when the database fails', () => {
  test('a token is not called invalid: 503 database_unavailable, on every path that takes one', async () => {
    const paths: readonly (readonly [string, string])[] = [
      ['POST', '/v1/chat/completions'],
      ['GET', '/v1/models'],
      ['GET', '/v1/models/m'],
      ['POST', '/v1/files'],
      ['GET', '/dashboard/billing/subscription'],
      ['GET', '/v1/dashboard/billing/usage'],
    ]
    const caller = await bench.caller()
    {
      using _ = without('tokens')
      for (const [method, path] of paths) {
        const body = method === 'POST' ? { body: JSON.stringify(chat) } : {}
        const headers = { authorization: `Bearer ${caller.token}` }
        const seen = await see(fetch(bench.gateway.url + path, { method, headers, ...body }))
        expectError(seen, 503, 'database_unavailable')
      }
      expectError(
        await see(bench.gateway.post('/v1/chat/completions', chat, 'sk-unknown')),
        503,
        'database_unavailable',
      )
    }
    expect((await bench.gateway.post('/v1/chat/completions', chat, caller.token)).status).toBe(200)
  })

  test('also for a caller who is known: no hold, no call', async () => {
    const caller = await bench.caller()
    const before = bench.upstream.requests.length
    const models = () =>
      see(fetch(`${bench.gateway.url}/v1/models`, { headers: { authorization: `Bearer ${caller.token}` } }))
    expect((await models()).status).toBe(200)
    {
      using _ = without('holds')
      expectError(
        await see(bench.gateway.post('/v1/chat/completions', chat, caller.token)),
        503,
        'database_unavailable',
      )
    }
    {
      using _ = without('tokens')
      expectError(await models(), 503, 'database_unavailable')
      const usage = `${bench.gateway.url}/dashboard/billing/usage`
      expectError(
        await see(fetch(usage, { headers: { authorization: `Bearer ${caller.token}` } })),
        503,
        'database_unavailable',
      )
    }
    expect(bench.upstream.requests.length).toBe(before)
    await charged(bench, caller, 0)
  })

  test('a stream under way waits with its end until the charge is written, once', async () => {
    const caller = await bench.caller()
    bench.upstream.next(fake.okStream({ chunks: 5, delayMs: 30 }))
    const response = await bench.gateway.post('/v1/chat/completions', chatStream, caller.token)
    let text = ''
    const reader = response.body?.getReader()
    const decoder = new TextDecoder()
    {
      using _ = without('logs')
      while (!text.includes('word4')) text += decoder.decode((await reader?.read())?.value)
      const pending = async () => {
        const metrics = await fetch(`${bench.gateway.url}/metrics`).then((answer) => answer.text())
        return Number(/^tollgate_settle_retries_total (\d+)/m.exec(metrics)?.[1])
      }
      await until(async () => (await pending()) >= 2)
      expect(text).not.toContain('[DONE]')
    }
    for (let piece = await reader?.read(); piece && !piece.done; piece = await reader?.read())
      text += decoder.decode(piece.value)
    expect(eventsOf(text).at(-1)).toBe('[DONE]')
    const rows = await charged(bench, caller, 15)
    expect(rows).toHaveLength(1)
  }, 120_000)
})
