// What a realtime session needs from the ledger, on each database: holds that grow, limits, and one charge per session.
import { afterAll, afterEach, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { forEachDatabaseUrl } from '../helpers/databases.ts'
import {
  openSession,
  type RealtimeUpstream,
  refusedSession,
  response,
  startRealtimeUpstream,
  textUsage,
} from '../helpers/realtime-upstream.ts'
import { charged, type Rig, startRelayRig, until } from './setup.ts'

setDefaultTimeout(120_000)

forEachDatabaseUrl((name, freshUrl) => {
  let rig: Rig
  let upstream: RealtimeUpstream

  beforeAll(async () => {
    upstream = await startRealtimeUpstream()
    rig = await startRelayRig({ channels: false, ...(name === 'postgres' && { databaseUrl: await freshUrl() }) })
  }, 120_000)
  afterAll(async () => {
    await rig[Symbol.asyncDispose]()
    await upstream[Symbol.asyncDispose]()
  })
  afterEach(async () => {
    const { read } = rig.gateway.context.store
    await until(async () => (await read.selectFrom('holds').selectAll().execute()).length === 0)
    await rig.clear()
    upstream.connections.length = 0
    upstream.onMessage = () => undefined
  })

  const channel = () => rig.channel({ base_url: upstream.url })

  test("a session counts as one of a token's concurrent calls", async () => {
    await channel()
    const caller = await rig.caller(undefined, { token: { concurrency_limit: 1 } })
    const session = await openSession(rig.gateway.url, caller.token)
    expect(await refusedSession(rig.gateway.url, 'model=m', caller.token)).toMatchObject({
      status: 429,
      code: 'rate_limit_exceeded',
    })
    session.socket.close()
  })

  test('if a caller disconnects in the middle of a response, the gateway cancels the response, and the usage that the upstream then reports is charged', async () => {
    await channel()
    const caller = await rig.caller()
    upstream.onMessage = (connection, message) => {
      const [created, delta] = response('r1', undefined, { text: 'Well' })
      if (String(message).includes('response.cancel'))
        connection.send(response('r1', textUsage(30, 4), { status: 'cancelled' }).at(-1))
      else connection.send(created, delta)
    }
    const session = await openSession(rig.gateway.url, caller.token)
    session.send({ type: 'response.create' })
    await session.event('response.output_text.delta')
    session.socket.terminate()
    const [row] = await charged(rig, caller, 34)
    expect([row?.outcome, Boolean(row?.estimated)]).toEqual(['aborted', false])
    expect(await (await upstream.connection()).closed).toEqual({ code: 1001, reason: '' })
  })

  test('the session ends when the quota runs out: audio that came before is delivered, and no balance falls below zero', async () => {
    await channel()
    const caller = await rig.caller({ user: 1000, token: 1000 })
    let count = 0
    upstream.onMessage = (connection) => {
      count++
      connection.send(...response(`r${count}`, textUsage(300, 50), { text: 'Hello' }))
    }
    const session = await openSession(rig.gateway.url, caller.token)
    for (const turn of [0, 1]) {
      session.send({ type: 'response.create' })
      await session.event('response.done', turn)
    }
    // Two turns have cost 700 units. Each turn reads the earlier turns again, so a third turn costs 350 units. The
    // remaining quota does not cover this.
    session.send({ type: 'response.create' })
    expect(await session.event('error')).toMatchObject({
      error: { code: 'quota_exhausted_mid_stream', type: 'one_api_error' },
    })
    expect(await session.closed).toEqual({ code: 1008, reason: 'quota_exhausted_mid_stream' })
    const [row] = await charged(rig, caller, 1000, 1000)
    expect(row).toMatchObject({ outcome: 'interrupted', prompt_tokens: 900, completion_tokens: 150 })
    expect(row?.content).toContain('ended: quota_exhausted_mid_stream')
  })

  test('the session ends in the middle of a response if the response costs more than the quota', async () => {
    await channel()
    const caller = await rig.caller({ user: 600, token: 600 })
    upstream.onMessage = (connection, message) => {
      if (!String(message).includes('response.create')) return
      connection.send({ type: 'response.created', response: { id: 'r1' } })
      for (let n = 0; n < 2000; n++)
        connection.send({ type: 'response.output_text.delta', response_id: 'r1', delta: ' word' })
    }
    const session = await openSession(rig.gateway.url, caller.token)
    session.send({ type: 'response.create' })
    await session.event('error')
    await session.closed
    const deltas = session.got.filter((each) => String(each).includes('output_text.delta')).length
    expect(deltas).toBeGreaterThan(500)
    expect(deltas).toBeLessThan(800)
    const [row] = await charged(rig, caller, 600, 600)
    expect([row?.outcome, Boolean(row?.estimated)]).toEqual(['interrupted', true])
  })

  test('a token that is disabled during a session gets no further response', async () => {
    await channel()
    const caller = await rig.caller()
    let count = 0
    upstream.onMessage = (connection, message) => {
      if (String(message).includes('response.create')) connection.send(...response(`r${++count}`, textUsage(10, 10)))
    }
    const session = await openSession(rig.gateway.url, caller.token)
    session.send({ type: 'response.create' })
    await session.event('response.done')
    const { store } = rig.gateway.context
    await store.write((trx) => trx.updateTable('tokens').set({ status: 2 }).where('id', '=', caller.tokenId).execute())
    await store.notices.publish({ topic: 'token', id: caller.tokenId })
    session.send({ type: 'response.create' })
    expect(await session.event('error')).toMatchObject({ error: { code: 'token_unavailable' } })
    expect(await session.closed).toEqual({ code: 1008, reason: 'token_unavailable' })
    const [row] = await charged(rig, caller, 40)
    expect(row).toMatchObject({ outcome: 'interrupted', prompt_tokens: 20 })
  })
})
