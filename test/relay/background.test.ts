// Responses that a service generates in the background are charged exactly once when they end, no matter who notices
// the end.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { sql } from 'kysely'
import { pollJobs } from '../../server/relay/background/poll-jobs.ts'
import { forEachDatabaseUrl } from '../helpers/databases.ts'
import { BackgroundService, type FakeUpstream, startFakeUpstream } from '../helpers/fake-upstream.ts'
import { Installation } from '../helpers/gateway-process.ts'
import { newPostgresDatabase, postgresMissing } from '../helpers/postgres.ts'
import { startTestGateway, type TestGateway } from '../helpers/test-gateway.ts'
import { installFor, model, newToken } from '../money/installed.ts'
import {
  type Caller,
  charged,
  chargedUnits,
  eventsOf,
  expectError,
  type Rig,
  see,
  startRelayRig,
  until,
} from './setup.ts'

const usage = { input_tokens: 10, output_tokens: 5, total_tokens: 15 }
const output = [
  { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Hi.', annotations: [] }] },
]
const ended = { usage, output }

forEachDatabaseUrl((name, freshUrl) => {
  let rig: Rig
  let service: BackgroundService
  const time = { skewMs: 0 }
  beforeAll(async () => {
    const clock = { nowMs: () => Date.now() + time.skewMs }
    const databaseUrl = name === 'postgres' ? { databaseUrl: await freshUrl() } : {}
    rig = await startRelayRig({ channels: false, clock, ...databaseUrl })
  })
  afterAll(() => rig[Symbol.asyncDispose]())
  beforeEach(async () => {
    // Rows that a failed test leaves behind would make the next tests fail, too.
    await rig.gateway.context.store.write(async (trx) => {
      await trx.deleteFrom('background_jobs').execute()
      await trx.deleteFrom('holds').execute()
    })
    await rig.clear({ RetryTimes: '0', BackgroundTimeLimit: '360' })
    service = new BackgroundService()
    rig.upstream.script(service.script)
  })

  const relay = () => rig.gateway.context.relay.relay
  /** Advances the clock by `seconds` and lets all nodes ask their services. */
  const poll = async (seconds = 3, ...others: TestGateway[]) => {
    time.skewMs += seconds * 1000
    await Promise.all([relay(), ...others.map((each) => each.context.relay.relay)].map(pollJobs))
  }
  const jobs = () => rig.gateway.context.store.read.selectFrom('background_jobs').selectAll().execute()
  const create = (caller: Caller, fields: object = {}) =>
    rig.gateway.post(
      '/v1/responses',
      { model: 'm', input: 'Hi', background: true, max_output_tokens: 50, ...fields },
      caller.token,
    )
  const call = (method: string, path: string, { token }: Pick<Caller, 'token'>) =>
    see(fetch(rig.gateway.url + path, { method, headers: { authorization: `Bearer ${token}` } }))
  const held = async (caller: Caller) =>
    await rig.gateway.context.store.read
      .selectFrom('holds')
      .select(['amount', 'node_id'])
      .where('user_id', '=', caller.userId)
      .execute()

  async function begun(fields: object = {}, channel: object = {}): Promise<{ caller: Caller; id: string }> {
    await rig.channel(channel)
    const caller = await rig.caller()
    const seen = await see(create(caller, fields))
    expect(seen.status).toBe(200)
    const { id, status } = JSON.parse(seen.text) as { id: string; status: string }
    expect(status).toBe('queued')
    return { caller, id }
  }

  describe('a response in the background', () => {
    test('has its full cost held while it is generated, and is charged once when a node sees its end', async () => {
      const { caller, id } = await begun()
      // The hold covers the highest possible cost of the response. It is not tied to a process, because the process may
      // end before the response does.
      expect(await held(caller)).toMatchObject([{ node_id: 'background' }])
      expect((await held(caller))[0]?.amount).toBeGreaterThanOrEqual(50)
      await poll()
      expect(await jobs()).toHaveLength(1)
      service.end(id, 'completed', ended)
      await poll(20)
      const [row] = await charged(rig, caller, 15)
      expect(row).toMatchObject({ outcome: 'complete', prompt_tokens: 10, completion_tokens: 5 })
      expect(await jobs()).toEqual([])
      await poll(20)
      await charged(rig, caller, 15)
    })

    test('is charged immediately when its caller sees its end', async () => {
      const { caller, id } = await begun()
      const under = await call('GET', `/v1/responses/${id}`, caller)
      expect(JSON.parse(under.text)).toMatchObject({ id, status: 'queued' })
      expect(await held(caller)).toHaveLength(1)
      service.end(id, 'completed', ended)
      const seen = await call('GET', `/v1/responses/${id}`, caller)
      expect(JSON.parse(seen.text)).toMatchObject({ id, status: 'completed' })
      expect(await jobs()).toEqual([])
      expect(await rig.gateway.balances(caller.userId, caller.tokenId)).toMatchObject({ used: 15, holds: 0 })
    })

    test('keeps the price at which it began', async () => {
      const { caller, id } = await begun()
      await rig.gateway.setOption('ModelRatio', '{"m":100,"m2":1}')
      service.end(id, 'completed', ended)
      await poll()
      await rig.gateway.setOption('ModelRatio', '{"m":1,"m2":1}')
      await charged(rig, caller, 15)
    })

    test('that is cancelled costs its prompt and the output so far', async () => {
      const { caller, id } = await begun()
      expect(JSON.parse((await call('POST', `/v1/responses/${id}/cancel`, caller)).text).status).toBe('cancelled')
      const { units, rows } = await chargedUnits(rig, caller)
      expect(units).toBeGreaterThan(0)
      expect(rows).toMatchObject([{ outcome: 'aborted', completion_tokens: 0 }])
    })

    test.each([
      ['failed', {}, 0],
      ['failed', { usage }, 15],
      ['incomplete', ended, 15],
    ] as const)('that ends as %s with %j costs what the service reports', async (status, fields, units) => {
      const { caller, id } = await begun()
      service.end(id, status, fields)
      await poll()
      await charged(rig, caller, units)
    })

    test('is charged no more than its hold if the service reports impossible usage', async () => {
      const { caller, id } = await begun()
      service.end(id, 'completed', { ...ended, usage: { input_tokens: 9e9, output_tokens: 9e9, total_tokens: 18e9 } })
      await poll()
      const { units, rows } = await chargedUnits(rig, caller)
      expect(units).toBeLessThan(60)
      expect(Boolean(rows[0]?.estimated)).toBe(true)
    })

    test('costs its prompt if the database rejects its charge, even without the log row, and nothing stays held', async () => {
      const { caller, id } = await begun()
      const { store } = rig.gateway.context
      const isTooMuch = 'new.used_quota - old.used_quota > 30'
      const statements =
        name === 'sqlite'
          ? [
              `create trigger refuses before update on users when ${isTooMuch} begin select raise(abort, 'no'); end`,
              'drop trigger refuses',
            ]
          : [
              `create function refuses() returns trigger language plpgsql as $$ begin
                if ${isTooMuch} then raise exception 'no' using errcode = '23514'; end if; return new; end $$`,
              'create trigger refuses before update on users for each row execute function refuses()',
              'drop trigger refuses on users',
            ]
      const run = (text: string) => store.write((trx) => sql.raw(text).execute(trx))
      for (const text of statements.slice(0, -1)) await run(text)
      service.end(id, 'completed', { output, usage: { input_tokens: 10, output_tokens: 40, total_tokens: 50 } })
      await poll().finally(() => run(statements.at(-1) ?? ''))
      const { units, rows } = await chargedUnits(rig, caller)
      expect(units).toBeWithin(1, 30)
      const content = 'interrupted: the charge of the background response could not be written'
      expect(rows).toMatchObject([{ outcome: 'interrupted', content }])
      expect([await held(caller), await jobs()]).toEqual([[], []])
    })

    test('needs quota for its full cost', async () => {
      await rig.channel()
      const caller = await rig.caller({ user: 3 })
      expectError(await see(create(caller)), 403, 'insufficient_user_quota')
      expect([rig.upstream.requests, await jobs()]).toEqual([[], []])
    })

    test('counts as an open call until it ends', async () => {
      await rig.channel()
      const caller = await rig.caller(undefined, { token: { concurrency_limit: 2 } })
      const { id } = JSON.parse((await see(create(caller))).text)
      expect((await see(create(caller, { background: false }))).status).toBe(200)
      await see(create(caller))
      expectError(await see(create(caller)), 429, 'rate_limit_exceeded')
      for (const each of service.jobs.keys()) service.end(each, 'completed', ended)
      await poll()
      expect((await call('GET', `/v1/responses/${id}`, caller)).status).toBe(200)
      await chargedUnits(rig, caller)
    })

    test('counts towards the limit on concurrent calls of its channel until it ends', async () => {
      const limits = [{ metric: 'calls', window: 'now', most: 1 }]
      await rig.gateway.setOption('ChannelWaitTime', '0')
      const { caller, id } = await begun({}, { limits })
      expectError(await see(create(caller)), 429, 'channels_full')
      service.end(id, 'completed', ended)
      await poll()
      expect((await see(create(caller, { background: false }))).status).toBe(200)
      await chargedUnits(rig, caller)
    })
  })

  describe('a service that misbehaves', () => {
    test.each([503, 429, 401, 'nonsense', 'other-id'] as const)('is asked again after %p', async (fault) => {
      const { caller, id } = await begun()
      service.fault = fault
      for (let round = 0; round < 5; round++) await poll(31)
      expect(await held(caller)).toHaveLength(1)
      service.fault = undefined
      service.end(id, 'completed', ended)
      await poll(31)
      await charged(rig, caller, 15)
    })

    test('and responds that the response does not exist: after some time, the gateway accepts this and charges the prompt', async () => {
      const { caller, id } = await begun()
      service.forget(id)
      await poll()
      await poll(21)
      expect(await held(caller)).toHaveLength(1)
      await poll(21)
      const { rows, units } = await chargedUnits(rig, caller)
      expect(units).toBeGreaterThan(0)
      expect(rows).toMatchObject([
        { outcome: 'interrupted', content: 'interrupted: the service forgot the background response' },
      ])
    })

    test('and never ends the response: the gateway cancels it and charges the usage that the service then reports', async () => {
      const { caller, id } = await begun()
      await poll(360 * 60 + 1)
      expect(rig.upstream.requests.at(-1)).toMatchObject({ method: 'POST', path: `/v1/responses/${id}/cancel` })
      expect((await chargedUnits(rig, caller)).rows).toMatchObject([{ outcome: 'aborted' }])
    })

    test('and cannot cancel the response: after the time limit, the gateway stops asking and charges the prompt', async () => {
      const { caller } = await begun()
      service.fault = 500
      await poll(360 * 60 + 1)
      const { rows, units } = await chargedUnits(rig, caller)
      expect(units).toBeGreaterThan(0)
      expect(rows).toMatchObject([{ content: 'interrupted: the background response did not end in time' }])
    })

    test('and ignores `background`: its response is charged like any other', async () => {
      service.ignoresBackground = true
      await rig.channel()
      for (const fields of [{}, { stream: true }]) {
        const caller = await rig.caller()
        expect((await see(create(caller, fields))).status).toBe(200)
        expect((await chargedUnits(rig, caller)).rows).toMatchObject([{ outcome: 'complete' }])
      }
      expect(await jobs()).toEqual([])
    })

    test('whose channel is deleted: the gateway cannot ask it and charges the prompt', async () => {
      const { caller } = await begun()
      await rig.clear()
      await poll()
      const { units } = await rig.gateway.balances(caller.userId, caller.tokenId).then(({ used }) => ({ units: used }))
      expect(units).toBeGreaterThan(0)
      expect(await jobs()).toEqual([])
    })
  })

  describe('a stream of a response in the background', () => {
    test('can be left and resumed, and is charged before its last event is sent', async () => {
      await rig.channel()
      const caller = await rig.caller()
      const leave = new AbortController()
      const response = await rig.gateway.post(
        '/v1/responses',
        { model: 'm', input: 'Hi', background: true, stream: true },
        caller.token,
        { signal: leave.signal },
      )
      const reader = (response.body as ReadableStream<Uint8Array>).getReader()
      const first = new TextDecoder().decode((await reader.read()).value)
      const [event] = eventsOf(first).map((each) => JSON.parse(each))
      expect(event).toMatchObject({ type: 'response.created', sequence_number: 0 })
      const { id } = event.response
      leave.abort()
      await rig.upstream.until(({ openStreams }) => openStreams === 0)
      expect(await held(caller)).toMatchObject([{ node_id: 'background' }])
      service.push(id, { type: 'response.output_text.delta', delta: 'Hi.' })
      service.end(id, 'completed', ended)
      const seen = await call('GET', `/v1/responses/${id}?stream=true&starting_after=1`, caller)
      expect([seen.status, seen.text]).toEqual([200, expect.stringContaining('delta')])
      expect(eventsOf(seen.text).map((each) => JSON.parse(each).sequence_number)).toEqual([2, 3])
      expect(await rig.gateway.balances(caller.userId, caller.tokenId)).toMatchObject({ used: 15, holds: 0 })
      await charged(rig, caller, 15)
    })

    test('that is read to its end is charged once', async () => {
      await rig.channel()
      const caller = await rig.caller()
      const answer = await create(caller, { stream: true })
      await until(async () => (await jobs()).length === 1)
      for (const id of service.jobs.keys()) service.end(id, 'completed', ended)
      const seen = await see(answer)
      expect(eventsOf(seen.text).map((each) => JSON.parse(each).type)).toEqual([
        'response.created',
        'response.queued',
        'response.completed',
      ])
      await poll()
      await charged(rig, caller, 15)
    })

    test('that breaks off tells the caller how to continue, and the response is charged when it ends', async () => {
      await rig.channel()
      const caller = await rig.caller()
      const answer = await create(caller, { stream: true })
      await until(async () => (await jobs()).length === 1)
      for (const id of service.jobs.keys()) service.cut(id)
      const seen = await see(answer)
      expect(JSON.parse(eventsOf(seen.text).at(-1) ?? '{}')).toMatchObject({
        type: 'error',
        code: 'upstream_stream_error',
      })
      expect(await held(caller)).toHaveLength(1)
      for (const id of service.jobs.keys()) service.end(id, 'completed', ended)
      await poll()
      await charged(rig, caller, 15)
    })
  })

  describe('attacks', () => {
    test('another user can neither reach the response by its id nor settle its charge', async () => {
      const { caller, id } = await begun()
      service.end(id, 'completed', ended)
      const thief = await rig.caller()
      const before = rig.upstream.requests.length
      for (const [method, rest] of [
        ['GET', ''],
        ['GET', '?stream=true&starting_after=0'],
        ['POST', '/cancel'],
        ['DELETE', ''],
      ] as const)
        expectError(await call(method, `/v1/responses/${id}${rest}`, thief), 404, 'response_not_found')
      expect(rig.upstream.requests.length).toBe(before)
      expect(await held(caller)).toHaveLength(1)
      expect((await rig.gateway.balances(thief.userId, thief.tokenId)).used).toBe(0)
      await poll()
      await charged(rig, caller, 15)
    })

    test('deleting a response that is being generated does not make it free', async () => {
      const { caller, id } = await begun()
      expectError(await call('DELETE', `/v1/responses/${id}`, caller), 400, 'invalid_field_value')
      service.end(id, 'completed', ended)
      expect((await call('DELETE', `/v1/responses/${id}`, caller)).status).toBe(200)
      await charged(rig, caller, 15)
      expectError(await call('GET', `/v1/responses/${id}`, caller), 404, 'response_not_found')
    })

    test('a caller who disconnects before the answer is still charged', async () => {
      await rig.channel()
      const caller = await rig.caller()
      const leave = new AbortController()
      const asked = rig.gateway
        .post('/v1/responses', { model: 'm', input: 'Hi', background: true }, caller.token, { signal: leave.signal })
        .catch(() => undefined)
      await rig.upstream.received(1)
      leave.abort()
      await asked
      await until(async () => (await jobs()).length === 1)
      for (const id of service.jobs.keys()) service.end(id, 'completed', ended)
      await poll()
      await charged(rig, caller, 15)
    })

    test.each([
      [{ background: 'yes' }, 'background'],
      [{ store: false }, 'store'],
      [{ input: [{ type: 'compaction_trigger' }] }, 'background'],
    ])('%j is refused before anything is sent', async (fields, param) => {
      await rig.channel()
      const caller = await rig.caller()
      const seen = await see(create(caller, fields))
      expect([seen.status, seen.error?.code, seen.error?.param]).toEqual([400, 'invalid_field_value', param])
      expect([rig.upstream.requests, await jobs()]).toEqual([[], []])
    })

    test('a call in the background is not sent to a channel that does not support such calls', async () => {
      await rig.channel({ type: 14 })
      expectError(await see(create(await rig.caller())), 400, 'feature_not_supported')
      await rig.channel({ priority: -1 })
      expect((await see(create(await rig.caller()))).status).toBe(200)
      for (const id of service.jobs.keys()) service.end(id, 'completed', ended)
      await poll()
    })
  })

  if (name === 'postgres')
    test('if several nodes ask at the same time, only one charges', async () => {
      const url = rig.gateway.config.databaseUrl
      const clock = { nowMs: () => Date.now() + time.skewMs }
      await using other = await startTestGateway({ databaseUrl: url, clock })
      const started = await Promise.all(Array.from({ length: 6 }, () => begun()))
      for (const { id } of started) service.end(id, 'completed', ended)
      await Promise.all([
        poll(3, other),
        ...started.map(({ caller, id }) => call('GET', `/v1/responses/${id}`, caller)),
      ])
      await until(async () => (await jobs()).length === 0)
      for (const { caller } of started) await charged(rig, caller, 15)
    })
})

describe('kill -9 of the process that began a response in the background', () => {
  const proof = async (databaseUrl: string | undefined) => {
    await using upstream: FakeUpstream = await startFakeUpstream()
    const service = new BackgroundService()
    upstream.script(service.script)
    await using installation = new Installation(databaseUrl)
    const doomed = await installation.start()
    await installFor(doomed, upstream.url)
    const { key } = await newToken(doomed, 1_000_000)
    const response = await doomed.post('/v1/responses', { model, input: 'Hi', background: true }, key)
    const { id } = (await response.json()) as { id: string }
    await doomed.kill()
    const next = await installation.start()
    service.end(id, 'completed', ended)
    const rows = async () =>
      (await next.api<{ content: string; quota: number; outcome: string }[]>('GET', '/api/log/?type=2')).map(
        ({ quota, outcome }) => ({ quota, outcome }),
      )
    await until(async () => (await rows()).length > 0)
    // 10 prompt tokens at 1 unit, and 5 completion tokens at 2 units.
    expect(await rows()).toEqual([{ quota: 20, outcome: 'complete' }])
    const audit = await installation.run('audit')
    expect(audit.output).toContain(' 0 holds open; 0 faults.')
  }

  test('sqlite: the next process charges it, once', () => proof(undefined), 60_000)
  if (postgresMissing !== undefined) test.skip(`postgres (${postgresMissing})`, () => undefined)
  else
    test('postgres: another process charges it, once', async () => {
      await using database = await newPostgresDatabase()
      await proof(database.url)
    })
})
