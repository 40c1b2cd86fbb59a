// A virtual model: which step answers, what is charged, and what callers see of it.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import type { VirtualModel } from '../../contract/api/virtual-model.ts'
import { forEachDatabaseUrl } from '../helpers/databases.ts'
import * as fake from '../helpers/fake-upstream.ts'
import {
  type Caller,
  callerCalls,
  callers,
  charged,
  chargedUnits,
  chat,
  eventsOf,
  expectError,
  type Rig,
  see,
  startRelayRig,
  textOf,
  until,
  whileHeld,
} from './setup.ts'

const usual = { AutomaticDisableChannelEnabled: 'false', GroupRatio: '{"default":1,"vip":2}', ChannelWaitTime: '60' }
const prices = { ModelRatio: '{"m":1,"m2":3}', CompletionRatio: '{"m":1,"m2":1}' }

forEachDatabaseUrl((name, freshUrl) => {
  let rig: Rig
  let aheadMs = 0
  beforeAll(async () => {
    const clock = { nowMs: () => Date.now() + aheadMs }
    const databaseUrl = name === 'postgres' ? { databaseUrl: await freshUrl() } : {}
    rig = await startRelayRig({ channels: false, ...databaseUrl, clock, settings: { ...usual, ...prices } })
  }, 120_000)
  afterAll(() => rig[Symbol.asyncDispose]())
  beforeEach(async () => {
    // Calls of the management API are limited per minute.
    aheadMs += 60_000
    for (const { id } of await rig.gateway.api<VirtualModel[]>('GET', '/api/virtual-model/'))
      await rig.gateway.api('DELETE', `/api/virtual-model/${id}`)
    await rig.clear({ RetryTimes: '0', ...prices })
  })

  const virtual = (fields: object = {}) =>
    rig.gateway.api<VirtualModel>('POST', '/api/virtual-model/', {
      name: 'best',
      steps: [{ model: 'm' }, { model: 'm2' }],
      ...fields,
    })
  const steps = async () => {
    const first = await rig.channel({ key: 'key-m' })
    const second = await rig.channel({ key: 'key-m2', models: 'm2' })
    return { first, second }
  }
  const keys = () => rig.upstream.requests.map(({ key }) => key)
  async function call(body: object = {}, caller?: Caller) {
    const account = caller ?? (await rig.caller())
    const seen = await see(rig.gateway.post('/v1/chat/completions', { ...chat, model: 'best', ...body }, account.token))
    return { caller: account, seen }
  }

  describe(`a virtual model (${name})`, () => {
    test('a session returns to a step that it has left if the quota does not cover the next step', async () => {
      await rig.clear({ RetryTimes: '0', ModelRatio: '{"m":1,"m2":100000}', CompletionRatio: '{"m":1,"m2":1}' })
      await steps()
      await virtual()
      const caller = await rig.caller({ user: 100_000, token: 100_000 })
      rig.upstream.forKey('key-m', fake.cutsInsideEvent('fin'), fake.okStream())
      await call({ stream: true, user: 'somebody' }, caller)
      const { seen } = await call({ stream: true, user: 'somebody' }, caller)
      expect([seen.status, keys()]).toEqual([200, ['key-m', 'key-m']])
    })

    test('if a stream of a session breaks in one step, the session continues with the next step and returns to the first step later', async () => {
      await steps()
      await virtual()
      const caller = await rig.caller()
      const turn = () =>
        call({ stream: true, user: 'somebody', messages: [{ role: 'user', content: 'a session of its own' }] }, caller)
      rig.upstream.forKey('key-m', fake.cutsInsideEvent('fin'), fake.okStream())
      await turn()
      await turn()
      aheadMs += 21_000
      await turn()
      expect(keys()).toEqual(['key-m', 'key-m2', 'key-m'])
    })

    test('the first step answers: the upstream gets the name of the step’s model, and the log row has this name and the requested one', async () => {
      const { first } = await steps()
      await virtual()
      const { caller, seen } = await call()
      expect(seen.status).toBe(200)
      expect(seen.headers.get('x-tollgate-model')).toBe('m')
      expect(rig.upstream.requests.map(({ json }) => (json as { model: string }).model)).toEqual(['m'])
      const [row, ...more] = await charged(rig, caller, 15)
      expect(more).toEqual([])
      expect(row).toMatchObject({ model_name: 'm', asked_model: 'best', channel_id: first, attempts: '' })
    })

    test('an alias, which is a virtual model with one step, works in every dialect', async () => {
      await steps()
      await virtual({ name: 'm-alias', steps: [{ model: 'm2' }] })
      for (const each of callers) {
        const { path, body } = callerCalls[each]
        const caller = await rig.caller()
        const seen = await see(
          rig.gateway.post(path.replace('/m:', '/m-alias:'), { ...body, model: 'm-alias' }, caller.token),
        )
        expect([each, seen.status, seen.headers.get('x-tollgate-model')]).toEqual([each, 200, 'm2'])
        const [row] = await charged(rig, caller, 45)
        expect(row).toMatchObject({ model_name: 'm2', asked_model: 'm-alias' })
        // The body names the model that answered, and never the virtual model.
        expect(seen.text).not.toContain('m-alias')
      }
    })

    test('after a failure the second step answers at its price, with one hold and one row', async () => {
      const { first, second } = await steps()
      await virtual()
      rig.upstream.forKey('key-m', fake.status(503))
      const { caller, seen } = await call()
      expect(seen.status).toBe(200)
      expect(seen.headers.get('x-tollgate-model')).toBe('m2')
      expect(keys()).toEqual(['key-m', 'key-m2'])
      const [row, ...more] = await charged(rig, caller, 45)
      expect(more).toEqual([])
      expect(row).toMatchObject({ model_name: 'm2', asked_model: 'best', channel_id: second, outcome: 'complete' })
      expect(JSON.parse(row?.attempts ?? '')).toMatchObject([
        { channelId: first, status: 503, model: 'm' },
        { channelId: second, status: 200, model: 'm2' },
      ])
    })

    test('quota is held for the most expensive step', async () => {
      await steps()
      const body = { ...chat, max_tokens: 100 }
      const held = async (model: string) =>
        whileHeld(rig, await rig.caller(), '/v1/chat/completions', { ...body, model }, (amount) => amount)
      const [cheap, expensive] = [await held('m'), await held('m2')]
      expect(expensive).toBeGreaterThan(cheap)
      await virtual()
      expect(await held('best')).toBe(expensive)
    })

    test.each([
      ['rate_limited', fake.status(429)],
      ['overloaded', fake.status(503)],
      ['server_error', fake.status(500)],
      ['server_error', fake.resetsBeforeHeaders()],
      ['no_channel', fake.status(404)],
      ['timeout', fake.status(504)],
      ['context_too_long', fake.status(400, { code: 'context_length_exceeded', message: 'This is too long.' })],
      ['content_filter', fake.status(400, { code: 'content_filter', message: 'Filtered.' })],
    ] as const)('%s leads to the next step only where it is allowed: %p', async (failure, fault) => {
      await steps()
      const { id } = await virtual({ failures: [failure] })
      rig.upstream.forKey('key-m', fault)
      const { caller, seen } = await call()
      expect([seen.status, keys()]).toEqual([200, ['key-m', 'key-m2']])
      await charged(rig, caller, 45)
      rig.upstream.requests.length = 0
      const others = ['no_channel', 'overloaded', 'rate_limited', 'timeout', 'server_error', 'context_too_long']
      await rig.gateway.api('PUT', '/api/virtual-model/', { id, failures: others.filter((each) => each !== failure) })
      const refused = await call()
      expect([refused.seen.status >= 400, keys()]).toEqual([true, ['key-m']])
      await charged(rig, refused.caller, 0)
    })

    test('a mistake of the caller leads to no other step', async () => {
      await steps()
      await virtual()
      rig.upstream.forKey('key-m', fake.status(400))
      const { caller, seen } = await call()
      expectError(seen, 400, null)
      expect(keys()).toEqual(['key-m'])
      await charged(rig, caller, 0)
    })

    test('a refusal leads to the next step only if that is set, and the refused answer costs nothing', async () => {
      await steps()
      const { id } = await virtual()
      const refusing = fake.behaviour('a refusal', async (exchange) => {
        const message = { role: 'assistant', content: null, refusal: 'No.' }
        exchange.head(200, [['content-type', 'application/json']])
        await exchange.write(
          JSON.stringify({
            ...{ id: 'c', object: 'chat.completion', created: 1, model: 'm' },
            choices: [{ index: 0, message, finish_reason: 'stop' }],
            usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
          }),
        )
        exchange.end()
      })
      rig.upstream.forKey('key-m', refusing)
      const kept = await call()
      expect(kept.seen.text).toContain('No.')
      await charged(rig, kept.caller, 15)
      await rig.gateway.api('PUT', '/api/virtual-model/', { id, failures: ['refusal'] })
      const { caller, seen } = await call()
      expect([seen.status, seen.headers.get('x-tollgate-model')]).toEqual([200, 'm2'])
      await charged(rig, caller, 45)
    })

    test('a step whose model has no channel is skipped, even if the list of failures does not contain this case', async () => {
      await rig.channel({ key: 'key-m2', models: 'm2' })
      const { warnings } = await virtual({ failures: [] })
      expect(warnings).toEqual([{ kind: 'unserved', model: 'm', group: '' }])
      const { caller, seen } = await call()
      expect(seen.status).toBe(200)
      await charged(rig, caller, 45)
    })

    test('if all steps fail, the caller gets the last error and pays nothing', async () => {
      await steps()
      await virtual()
      rig.upstream.forKey('key-m', fake.status(503))
      rig.upstream.forKey('key-m2', fake.status(500, { message: 'The second one broke.' }))
      const { caller, seen } = await call()
      expectError(seen, 500, null)
      expect(seen.error?.message).toContain('The second one broke.')
      await charged(rig, caller, 0)
      const row = await failedRow(caller)
      expect(row).toMatchObject({ model_name: 'm2', asked_model: 'best', quota: 0 })
    })

    test('if no step can begin, the error gives the reason for each step, and does not name a channel', async () => {
      await virtual()
      const { caller, seen } = await call()
      expectError(seen, 503, 'no_available_channel')
      expect(seen.error?.message).toContain('no step of model best can serve this request')
      expect(seen.error?.message).toContain('model m in group default; no available channel for model m2')
      await charged(rig, caller, 0)
    })

    test('a step whose channels are all unhealthy is skipped, but is tried if no other step is left', async () => {
      await steps()
      await virtual()
      rig.upstream.forKey('key-m', fake.status(503))
      for (let count = 0; count < 5; count++) await call()
      rig.upstream.requests.length = 0
      const { seen } = await call()
      expect([seen.status, keys()]).toEqual([200, ['key-m2']])
      rig.upstream.requests.length = 0
      rig.upstream.forKey('key-m', fake.ok())
      const [second] = await rig.gateway.context.store.read
        .selectFrom('channels')
        .select('id')
        .where('models', '=', 'm2')
        .execute()
      await rig.gateway.api('PUT', '/api/channel/', { id: second?.id, status: 2 })
      const { seen: again } = await call()
      expect([again.status, keys()]).toEqual([200, ['key-m']])
      aheadMs += 60_000
    })

    test('retries on other channels of a step come before the next step', async () => {
      await steps()
      await rig.channel({ key: 'key-other', priority: -1 })
      await virtual()
      await rig.gateway.setOption('RetryTimes', '1')
      rig.upstream.forKey('key-m', fake.status(503))
      rig.upstream.forKey('key-other', fake.status(503))
      const { caller, seen } = await call()
      expect([seen.status, keys()]).toEqual([200, ['key-m', 'key-other', 'key-m2']])
      await charged(rig, caller, 45)
    })

    test('a stream moves to the next step before it has begun, and the body names the model that answered', async () => {
      await steps()
      await virtual()
      rig.upstream.forKey('key-m', fake.empty200())
      const { caller, seen } = await call({ stream: true })
      expect(seen.headers.get('x-tollgate-model')).toBe('m2')
      expect(textOf(seen.text).length).toBeGreaterThan(0)
      const [first] = eventsOf(seen.text)
      expect(JSON.parse(first ?? '')).toMatchObject({ model: 'm2' })
      await charged(rig, caller, 45)
    })

    test('the virtual model’s own setting decides whether a broken stream is continued; the same step continues it', async () => {
      await steps()
      await rig.channel({ key: 'key-other', priority: -1 })
      const { id } = await virtual({ stream_rescue: true })
      await rig.gateway.setOption('RetryTimes', '1')
      rig.upstream.forKey('key-m', fake.cutsStream('fin', { after: 2 }))
      const { caller, seen } = await call({ stream: true })
      expect([eventsOf(seen.text).at(-1), keys()]).toEqual(['[DONE]', ['key-m', 'key-other']])
      expect(seen.headers.get('x-tollgate-model')).toBe('m')
      const { rows } = await chargedUnits(rig, caller)
      expect(rows).toHaveLength(1)
      expect(rows[0]).toMatchObject({ model_name: 'm', asked_model: 'best', outcome: 'rescued' })
      await rig.gateway.api('PUT', '/api/virtual-model/', { id, stream_rescue: null })
      rig.upstream.requests.length = 0
      const broken = await call({ stream: true })
      expect([broken.seen.error?.code, keys()]).toEqual(['upstream_stream_error', ['key-m']])
    })

    test('the first-token time limit of a step applies even if its model has another limit', async () => {
      await steps()
      await virtual({ steps: [{ model: 'm', first_token_timeout: 7 }, { model: 'm2' }] })
      rig.upstream.forKey('key-m', fake.neverAnswers())
      const asking = call({ stream: true })
      await rig.upstream.received(1)
      aheadMs += 7_100
      const { caller, seen } = await asking
      expect([seen.status, keys()]).toEqual([200, ['key-m', 'key-m2']])
      await charged(rig, caller, 45)
    })

    test('a step with a group is served by that group’s channels and charged for the caller’s group', async () => {
      await rig.channel({ key: 'key-vip', group: 'vip' })
      await virtual({ steps: [{ model: 'm', group: 'vip' }] })
      const direct = await call({ model: 'm' })
      expectError(direct.seen, 503, 'no_available_channel')
      const { caller, seen } = await call()
      expect(seen.status).toBe(200)
      await charged(rig, caller, 15)
    })

    test('a fixed price applies whichever step answers', async () => {
      await steps()
      // One dollar is 500,000 units: a prompt token costs 2 units, and a token of the response 4.
      await virtual({ price: { input: 4, output: 8 } })
      const { caller } = await call()
      const [row] = await charged(rig, caller, 40)
      expect(row?.content).toBe('fixed price × 1')
      rig.upstream.forKey('key-m', fake.status(503))
      const fallback = await call()
      await charged(rig, fallback.caller, 40)
    })

    test('virtual models can be nested; each list of failures applies to its own steps', async () => {
      await steps()
      await rig.channel({ key: 'key-m3', models: 'm3' })
      await rig.gateway.setOption('ModelRatio', '{"m":1,"m2":3,"m3":1}')
      await rig.gateway.setOption('CompletionRatio', '{"m":1,"m2":1,"m3":1}')
      await virtual({ name: 'inner', failures: ['rate_limited'] })
      await virtual({ steps: [{ model: 'inner' }, { model: 'm3' }], failures: ['overloaded'] })
      rig.upstream.forKey('key-m', fake.status(429))
      expect((await call()).seen.headers.get('x-tollgate-model')).toBe('m2')
      rig.upstream.requests.length = 0
      rig.upstream.forKey('key-m', fake.status(503))
      expect((await call()).seen.headers.get('x-tollgate-model')).toBe('m3')
      expect(keys()).toEqual(['key-m', 'key-m3'])
    })

    test('sessions are divided among neighbouring steps by their weights, and a session stays at its step', async () => {
      await steps()
      await virtual({
        steps: [
          { model: 'm', weight: 3 },
          { model: 'm2', weight: 1 },
        ],
      })
      const caller = await rig.caller()
      const modelOf = async (session: string) => {
        const headers = { 'x-session-id': session }
        const body = { ...chat, model: 'best' }
        const seen = await see(rig.gateway.post('/v1/chat/completions', body, caller.token, { headers }))
        return seen.headers.get('x-tollgate-model')
      }
      const answers: (string | null)[] = []
      for (let count = 0; count < 60; count++) {
        const model = await modelOf(`s${count}`)
        answers.push(model)
        if (count < 10) expect(await modelOf(`s${count}`)).toBe(model)
      }
      const share = answers.filter((each) => each === 'm').length
      expect(share).toBeGreaterThan(30)
      expect(share).toBeLessThan(58)
    })

    test('a step that cannot do what is requested is skipped before it is tried', async () => {
      await rig.gateway.setOption('ModelRatio', '{"gpt-3.5-turbo":1,"m2":3}')
      // The built-in model list says that this model does not accept images.
      await rig.channel({ key: 'key-m', models: 'deepseek-chat' })
      await rig.channel({ key: 'key-m2', models: 'm2' })
      await virtual({ steps: [{ model: 'deepseek-chat' }, { model: 'm2' }], failures: [] })
      const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } }
      const { seen } = await call({ messages: [{ role: 'user', content: [image] }] })
      expect([seen.status, keys()]).toEqual([200, ['key-m2']])
      rig.upstream.requests.length = 0
      const plain = await call()
      expect([plain.seen.status, keys()]).toEqual([200, ['key-m']])
    })

    test('a full channel immediately leads to the next step; later calls can use the channel again', async () => {
      const limits = [{ metric: 'calls', window: 'now', most: 1 }]
      await rig.channel({ key: 'key-m', limits })
      await rig.channel({ key: 'key-m2', models: 'm2' })
      await virtual()
      const caller = await rig.caller()
      await whileHeld(rig, caller, '/v1/chat/completions', { ...chat, model: 'best' }, async () => {
        const { seen } = await call()
        expect([seen.status, seen.headers.get('x-tollgate-model')]).toEqual([200, 'm2'])
      })
      await until(async () => (await rig.gateway.balances(caller.userId, caller.tokenId)).holds === 0)
      const { seen } = await call()
      expect(seen.headers.get('x-tollgate-model')).toBe('m')
      // If a call leaves a channel with limits for another step, it no longer counts towards the limits of the channel.
      rig.upstream.forKey('key-m', fake.status(503))
      const moved = await call()
      expect(moved.seen.headers.get('x-tollgate-model')).toBe('m2')
      await charged(rig, moved.caller, 45)
      const places = await rig.gateway.context.store.read.selectFrom('cap_places').selectAll().execute()
      expect(places).toEqual([])
    })
  })

  describe(`a retry that waits because its channel is at its limit (${name})`, () => {
    const limits = [{ metric: 'calls', window: 'now', most: 1 }]
    /** A model with a channel that fails and one that is full while `work` runs, and a step after it. */
    const full = async (settings: Record<string, string>, work: () => Promise<void>) => {
      await rig.clear({ RetryTimes: '1', ...prices, ModelRatio: '{"m":1,"m2":3,"m3":1}' })
      for (const [key, value] of Object.entries(settings)) await rig.gateway.setOption(key, value)
      await rig.channel({ key: 'key-a', priority: 1 })
      await rig.channel({ key: 'key-b', models: 'm,m3', limits })
      await rig.channel({ key: 'key-m2', models: 'm2' })
      await virtual({ failures: ['server_error'] })
      rig.upstream.forKey('key-a', fake.status(500))
      const other = await rig.caller()
      await whileHeld(rig, other, '/v1/chat/completions', { ...chat, model: 'm3' }, work)
    }
    const clean = async () => {
      const { store } = rig.gateway.context
      const rows = async (table: 'holds' | 'cap_places' | 'cap_waits') =>
        (await store.read.selectFrom(table).selectAll().execute()).length
      await until(async () => (await rows('holds')) + (await rows('cap_places')) + (await rows('cap_waits')) === 0)
    }

    test.each([true, false])('in vain: the next step answers and is charged (stream: %p)', async (stream) => {
      const caller = await rig.caller()
      await full({ ChannelWaitTime: '0.1' }, async () => {
        const { seen } = await call({ stream }, caller)
        expect([seen.status, seen.headers.get('x-tollgate-model')]).toEqual([200, 'm2'])
        expect(seen.text).not.toContain('error')
      })
      await charged(rig, caller, 45)
      await clean()
    })

    test('and is no longer allowed counts towards no limit, and its quota is released', async () => {
      const caller = await rig.caller()
      let answer: Promise<unknown> | undefined
      await full({}, async () => {
        answer = call({}, caller)
        const { relay } = rig.gateway.context.relay
        await until(() => relay.line.waiting(caller.tokenId) === 1)
        relay.retryBudget.take = () => false
      })
      expect(await answer).toMatchObject({ seen: { status: 200 } })
      expect(keys().at(-1)).toBe('key-m2')
      await charged(rig, caller, 45)
      await clean()
    })
  })

  describe(`who may use it (${name})`, () => {
    const models = async (caller: Caller, headers: Record<string, string> = {}) => {
      const answer = await fetch(`${rig.gateway.url}/v1/models`, {
        headers: { authorization: `Bearer ${caller.token}`, ...headers },
      })
      return ((await answer.json()) as { data: { id: string }[] }).data.map(({ id }) => id)
    }

    test('only the groups that may see it can list and call it; for other groups, it does not exist', async () => {
      await steps()
      await virtual({ groups: ['vip'] })
      const plain = await rig.caller()
      const vip = await rig.caller(undefined, { user: { group: 'vip' } })
      await rig.channel({ key: 'key-vip', group: 'vip' })
      expect(await models(plain)).toEqual(['m', 'm2'])
      expect(await models(vip)).toEqual(['best', 'm'])
      expectError((await call({}, plain)).seen, 503, 'no_available_channel')
      expect((await call({}, vip)).seen.status).toBe(200)
    })

    test('it is in the lists of all dialects', async () => {
      await steps()
      await virtual()
      const { token } = await rig.caller()
      const get = async (path: string, headers: Record<string, string>) =>
        (await fetch(`${rig.gateway.url}${path}`, { headers })).text()
      const lists = await Promise.all([
        get('/v1/models', { authorization: `Bearer ${token}` }),
        get('/v1/models', { 'x-api-key': token, 'anthropic-version': '2023-06-01' }),
        get('/v1beta/models', { 'x-goog-api-key': token }),
        get('/v1/models/best', { authorization: `Bearer ${token}` }),
      ])
      for (const list of lists) expect(list).toContain('best')
    })

    test('a token’s list may name the virtual model or some of its steps', async () => {
      await steps()
      await virtual()
      const whole = await rig.caller(undefined, { token: { models: 'best' } })
      const part = await rig.caller(undefined, { token: { models: 'm2' } })
      const other = await rig.caller(undefined, { token: { models: 'm9' } })
      expect(await models(whole)).toEqual(['best'])
      expect((await call({}, whole)).seen.headers.get('x-tollgate-model')).toBe('m')
      expectError((await call({ model: 'm' }, whole)).seen, 403, 'model_not_allowed')
      expect(await models(part)).toEqual(['best', 'm2'])
      rig.upstream.requests.length = 0
      expect((await call({}, part)).seen.headers.get('x-tollgate-model')).toBe('m2')
      expect(keys()).toEqual(['key-m2'])
      // A failure of the allowed step does not lead to the step that the token may not use.
      rig.upstream.forKey('key-m2', fake.status(503))
      expectError((await call({}, part)).seen, 503, null)
      expect(keys()).not.toContain('key-m')
      expect(await models(other)).toEqual([])
      expectError((await call({}, other)).seen, 403, 'model_not_allowed')
    })

    test('it hides a real model of the same name, with a warning; the real model is served again when the virtual one is switched off', async () => {
      await steps()
      const { id, warnings } = await virtual({ name: 'm', steps: [{ model: 'm2' }] })
      expect(warnings).toContainEqual({ kind: 'real_model', model: 'm', group: '' })
      expect((await call({ model: 'm' })).seen.headers.get('x-tollgate-model')).toBe('m2')
      await rig.gateway.api('PUT', '/api/virtual-model/', { id, enabled: false })
      const { seen } = await call({ model: 'm' })
      expect([seen.status, seen.headers.get('x-tollgate-model')]).toEqual([200, null])
    })

    test('if an admin chooses a channel, the step that this channel serves answers', async () => {
      const { second } = await steps()
      await virtual()
      const { gateway } = rig
      const seen = await see(
        gateway.post('/v1/chat/completions', { ...chat, model: 'best' }, `${gateway.token}-${second}`),
      )
      expect([seen.status, seen.headers.get('x-tollgate-model')]).toEqual([200, 'm2'])
    })

    test('the price list names the steps and their prices, or the fixed price', async () => {
      await steps()
      const { id } = await virtual()
      const priceOf = async () => {
        const { models: list } = await rig.gateway.api<{
          models: { model: string; answered_by?: string[]; prices: { rates: { input: number } }[] }[]
        }>('GET', '/api/price/')
        return list.find(({ model }) => model === 'best')
      }
      expect(await priceOf()).toMatchObject({ answered_by: ['m', 'm2'] })
      expect((await priceOf())?.prices).toHaveLength(2)
      await rig.gateway.api('PUT', '/api/virtual-model/', { id, price: { input: 4, output: 8 } })
      expect((await priceOf())?.prices.map(({ rates }) => rates.input)).toEqual([2_000_000])
    })

    test('tokens are counted at the first step that is served', async () => {
      await steps()
      await virtual()
      const { token } = await rig.caller()
      const seen = await see(rig.gateway.post('/v1/messages/count_tokens', { ...chat, model: 'best' }, token))
      expect(seen.status).toBe(200)
    })
  })

  /** The row of a failed call, which is written in the background. */
  async function failedRow({ tokenId }: Caller) {
    const find = () =>
      rig.gateway.context.store.read
        .selectFrom('logs')
        .selectAll()
        .where('token_id', '=', tokenId)
        .where('type', '=', 6)
        .executeTakeFirst()
    await until(async () => (await find()) !== undefined)
    return find()
  }
})
