import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import * as fake from '../helpers/fake-upstream.ts'
import { openSession, response, startRealtimeUpstream, textUsage } from '../helpers/realtime-upstream.ts'
import { openServerDatabase } from '../helpers/server-database.ts'
import {
  charged,
  chargedUnits,
  chat,
  chatStream,
  eventsOf,
  expectError,
  expectErrorEvent,
  type Rig,
  see,
  startRelayRig,
  until,
} from './setup.ts'

let rig: Rig

beforeAll(async () => {
  rig = await startRelayRig()
})
afterAll(() => rig[Symbol.asyncDispose]())

/** Renames a table while the gateway is running, and renames it back on disposal. */
function without(table: string): Disposable {
  const database = openServerDatabase(rig.gateway.config.databaseUrl)
  database.run('PRAGMA legacy_alter_table = ON')
  database.run(`ALTER TABLE ${table} RENAME TO ${table}_gone`)
  return {
    [Symbol.dispose]() {
      database.run(`ALTER TABLE ${table}_gone RENAME TO ${table}`)
      database.close()
    },
  }
}

/** How many times the gateway has had to retry writing a charge. */
async function settleRetries(): Promise<number> {
  const metrics = await fetch(`${rig.gateway.url}/metrics`).then((answer) => answer.text())
  return Number(/^tollgate_settle_retries_total (\d+)/m.exec(metrics)?.[1])
}

describe('when the database fails', () => {
  test('a token is not reported as invalid: every path that needs one returns 503 database_unavailable', async () => {
    const paths: readonly (readonly [string, string])[] = [
      ['POST', '/v1/chat/completions'],
      ['GET', '/v1/models'],
      ['GET', '/v1/models/m'],
      ['POST', '/v1/files'],
      ['GET', '/dashboard/billing/subscription'],
      ['GET', '/v1/dashboard/billing/usage'],
    ]
    const caller = await rig.caller()
    {
      using _ = without('tokens')
      for (const [method, path] of paths) {
        const body = method === 'POST' ? { body: JSON.stringify(chat) } : {}
        const headers = { authorization: `Bearer ${caller.token}` }
        const seen = await see(fetch(rig.gateway.url + path, { method, headers, ...body }))
        expectError(seen, 503, 'database_unavailable')
      }
      expectError(await see(rig.gateway.post('/v1/chat/completions', chat, 'sk-unknown')), 503, 'database_unavailable')
    }
    expect((await rig.gateway.post('/v1/chat/completions', chat, caller.token)).status).toBe(200)
  })

  test('a caller whose token is in the cache is not served, because no hold can be written', async () => {
    const caller = await rig.caller()
    const before = rig.upstream.requests.length
    const models = () =>
      see(fetch(`${rig.gateway.url}/v1/models`, { headers: { authorization: `Bearer ${caller.token}` } }))
    expect((await models()).status).toBe(200)
    {
      using _ = without('holds')
      expectError(await see(rig.gateway.post('/v1/chat/completions', chat, caller.token)), 503, 'database_unavailable')
    }
    {
      using _ = without('tokens')
      expectError(await models(), 503, 'database_unavailable')
      const usage = `${rig.gateway.url}/dashboard/billing/usage`
      expectError(
        await see(fetch(usage, { headers: { authorization: `Bearer ${caller.token}` } })),
        503,
        'database_unavailable',
      )
    }
    expect(rig.upstream.requests.length).toBe(before)
    await charged(rig, caller, 0)
  })

  test('a running stream does not end until its charge is written, and the charge is written once', async () => {
    const caller = await rig.caller()
    rig.upstream.next(fake.okStream({ chunks: 5, delayMs: 30 }))
    const response = await rig.gateway.post('/v1/chat/completions', chatStream, caller.token)
    let text = ''
    const reader = response.body?.getReader()
    const decoder = new TextDecoder()
    {
      using _ = without('logs')
      while (!text.includes('word4')) text += decoder.decode((await reader?.read())?.value)
      await until(async () => (await settleRetries()) >= 2)
      expect(text).not.toContain('[DONE]')
    }
    for (let piece = await reader?.read(); piece && !piece.done; piece = await reader?.read())
      text += decoder.decode(piece.value)
    expect(eventsOf(text).at(-1)).toBe('[DONE]')
    const rows = await charged(rig, caller, 15)
    expect(rows).toHaveLength(1)
  }, 120_000)
  test('a stream that needs more quota ends with database_unavailable, because no more quota can be held', async () => {
    const caller = await rig.caller()
    const goOn = Promise.withResolvers<void>()
    const event = 'data: {"choices":[{"index":0,"delta":{"content":"word "}}]}\n\n'
    rig.upstream.next(
      fake.behaviour('waits, then goes on without end', async (exchange) => {
        exchange.head(200, fake.streamHeaders())
        await exchange.write(event)
        await goOn.promise
        while (await exchange.write(event)) await new Promise((resolve) => setImmediate(resolve))
      }),
    )
    const before = await settleRetries()
    const answer = await rig.gateway.post('/v1/chat/completions', chatStream, caller.token)
    const seeing = see(answer)
    {
      using _ = without('holds')
      goOn.resolve()
      await until(async () => (await settleRetries()) > before)
    }
    expectErrorEvent(await seeing, 'database_unavailable')
    const { units, rows } = await chargedUnits(rig, caller)
    // The charge covers only the output that the hold pays for. The last chunk exceeds the hold and is not charged.
    expect(units).toBeWithin(350, 510)
    expect(rows[0]).toMatchObject({ outcome: 'interrupted' })
    expect(rows[0]?.content).toContain('ended: database_unavailable')
    expect(rig.gateway.context.relay.relay.breaker.snapshot()).toEqual([])
  }, 120_000)

  test('a realtime session that needs more quota also ends with database_unavailable', async () => {
    await using upstream = await startRealtimeUpstream()
    const id = await rig.channel({ base_url: upstream.url, priority: 1 })
    upstream.onMessage = (connection) => connection.send(...response('r1', textUsage(3000, 50), { text: 'Hello' }))
    const caller = await rig.caller()
    const session = await openSession(rig.gateway.url, caller.token)
    const before = await settleRetries()
    {
      using _ = without('holds')
      session.send({ type: 'response.create' })
      await session.event('response.done')
      await until(async () => (await settleRetries()) > before)
    }
    expect(await session.event('error')).toMatchObject({ error: { code: 'database_unavailable' } })
    expect(await session.closed).toEqual({ code: 1011, reason: 'database_unavailable' })
    const [row] = await charged(rig, caller, 3050)
    expect(row).toMatchObject({ outcome: 'interrupted', prompt_tokens: 3000, completion_tokens: 50 })
    await rig.gateway.api('DELETE', `/api/channel/${id}`)
  }, 120_000)
})
