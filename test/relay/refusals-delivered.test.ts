// If the model of a step refuses to answer, the gateway holds the refusal back and tries the next step of the virtual
// model. The caller gets the refusal if no other step answers.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import type { VirtualModel } from '../../contract/api/virtual-model.ts'
import { balanceFaults } from '../../server/store/ledger/balance-check.ts'
import { forEachDatabaseUrl } from '../helpers/databases.ts'
import * as fake from '../helpers/fake-upstream.ts'
import { chatStream, chunk, fine, refusalChunks, refusals, streaming, usage } from './refusals.ts'
import {
  type CallerName,
  callerCalls,
  callers,
  charged,
  type Rig,
  type Seen,
  see,
  startRelayRig,
  until,
} from './setup.ts'

const usual = {
  AutomaticDisableChannelEnabled: 'false',
  RetryTimes: '0',
  SameChannelRetries: '0',
  KeepAliveInterval: '10',
}
const prices = { ModelRatio: '{"m":1,"m2":3}', CompletionRatio: '{"m":1,"m2":1}' }

/** A response without the ids and times that differ from one request to the next. */
const lasting = (text: string) =>
  text.replaceAll(/[\w-]{16,}/g, 'id').replaceAll(/("(?:created|created_at|completed_at)":)\d+/g, '$10')

forEachDatabaseUrl((name, freshUrl) => {
  let rig: Rig
  let aheadMs = 0
  let virtualId = 0
  beforeAll(async () => {
    const clock = { nowMs: () => Date.now() + aheadMs }
    const databaseUrl = name === 'postgres' ? { databaseUrl: await freshUrl() } : {}
    rig = await startRelayRig({ channels: false, ...databaseUrl, clock, settings: { ...usual, ...prices } })
    const steps = [{ model: 'm' }, { model: 'm2' }]
    virtualId = (await rig.gateway.api<VirtualModel>('POST', '/api/virtual-model/', { name: 'best', steps })).id
  }, 120_000)
  afterAll(() => rig[Symbol.asyncDispose]())
  beforeEach(async () => {
    aheadMs += 60_000
    await rig.clear()
  })

  const change = (fields: object) => rig.gateway.api('PUT', '/api/virtual-model/', { id: virtualId, ...fields })
  const first = (type = 28) => rig.channel({ type, key: 'key-m' })
  const second = (fields: object = {}) => rig.channel({ type: 28, key: 'key-m2', models: 'm2', ...fields })
  const keys = () => rig.upstream.requests.map(({ key }) => key)
  const rates = (id: number, models: object) =>
    rig.gateway.api('PUT', `/api/channel/${id}/costs`, { multiplier: null, models })

  async function call(each: CallerName, isStream: boolean, quota?: { user: number; token: number }) {
    const caller = await rig.caller(quota)
    const { path, body } = callerCalls[each]
    const asked = each === 'gemini' ? body : { ...body, model: 'best', stream: isStream }
    const streamed = path.replace('generateContent', isStream ? 'streamGenerateContent?alt=sse' : 'generateContent')
    const seen = await see(rig.gateway.post(streamed.replace('/m:', '/best:'), asked, caller.token))
    return { caller, seen }
  }

  /** Makes a streamed chat call. The first step refuses, and the virtual model then tries the next step. */
  async function refusedStream(quota?: { user: number; token: number }) {
    rig.upstream.forKey('key-m', chatStream(...refusalChunks))
    return call('chat', true, quota)
  }

  function expectRefusal({ status, text, error, headers }: Seen) {
    expect([status, error, headers.get('x-tollgate-model')]).toEqual([200, undefined, 'm'])
    expect(text).toContain('I will not.')
    expect(text).toEndWith('data: [DONE]\n\n')
  }

  async function expectCharged(caller: Parameters<typeof charged>[1], channelId: number, before?: number) {
    const [row, ...more] = await charged(rig, caller, 15, before)
    expect(more).toEqual([])
    expect(row).toMatchObject({ channel_id: channelId, model_name: 'm', asked_model: 'best', outcome: 'complete' })
    expect(row?.content).toContain('refused, and no other step could answer')
    expect(row?.attempts).toBe('')
    return row
  }

  describe(`a refusal that no other step answers (${name})`, () => {
    test.each(refusals)(
      '%s is delivered as it would be if refusals did not lead to the next step, in every dialect',
      async (...refusal) => {
        const [, type, failure, stream, answer, only] = refusal
        const channelId = await first(type)
        for (const each of only ? [only] : callers)
          for (const isStream of [true, false]) {
            rig.upstream.forKey('key-m', isStream ? stream : answer)
            await change({ failures: ['server_error'] })
            const plain = await call(each, isStream)
            const [plainRow] = await rig.gateway.logs()
            await change({ failures: [failure] })
            const { caller, seen } = await call(each, isStream)
            expect([each, isStream, seen.status, lasting(seen.text)]).toEqual([
              ...[each, isStream, plain.seen.status],
              lasting(plain.seen.text),
            ])
            const headers = ({ headers: all }: Seen) =>
              [...all].filter(([header]) => !/^(date|request-id|x-.*request-id|.*remaining.*|.*reset.*)$/.test(header))
            expect(headers(seen)).toEqual(headers(plain.seen))
            const [row, ...more] = await charged(rig, caller, plainRow?.quota ?? -1)
            expect(more).toEqual([])
            for (const column of ['prompt_tokens', 'completion_tokens', 'outcome', 'estimated', 'is_stream'] as const)
              expect([column, row?.[column]]).toEqual([column, plainRow?.[column]])
            expect(row?.channel_id).toBe(channelId)
          }
      },
    )

    test('is delivered if the channel of the next step fails or is skipped by the circuit breaker', async () => {
      const channelId = await first()
      const other = await second()
      await change({ failures: ['refusal'] })
      rig.upstream.forKey('key-m2', fake.status(500))
      for (let count = 0; count < 5; count++) {
        const { caller, seen } = await refusedStream()
        expectRefusal(seen)
        const [row] = await charged(rig, caller, 15)
        expect(row?.channel_id).toBe(channelId)
        expect(JSON.parse(row?.attempts ?? '')).toMatchObject([
          { channelId: other, status: 500 },
          { channelId, status: 200, error: '', model: 'm' },
        ])
      }
      // Channels that the circuit breaker skips are tried if no other step is left. A last step without a channel
      // prevents this.
      await change({ failures: ['refusal', 'no_channel'], steps: [{ model: 'm' }, { model: 'm2' }, { model: 'm3' }] })
      rig.upstream.requests.length = 0
      const { caller, seen } = await refusedStream()
      await change({ steps: [{ model: 'm' }, { model: 'm2' }] })
      expectRefusal(seen)
      await expectCharged(caller, channelId)
      expect(keys()).toEqual(['key-m'])
    })

    test('is delivered if the channel of the next step is disabled, or its model has no price', async () => {
      const channelId = await first()
      await second({ status: 2 })
      await change({ failures: ['refusal'] })
      const off = await refusedStream()
      expectRefusal(off.seen)
      await expectCharged(off.caller, channelId)

      await rig.channel({ type: 28, key: 'key-m3', models: 'unpriced-model-m3' })
      await change({ steps: [{ model: 'm' }, { model: 'unpriced-model-m3' }] })
      const unpriced = await refusedStream()
      expectRefusal(unpriced.seen)
      await expectCharged(unpriced.caller, channelId)
      await change({ steps: [{ model: 'm' }, { model: 'm2' }] })
      expect(new Set(keys())).toEqual(new Set(['key-m']))
    })

    test('is delivered if the channel of the next step is full, and nothing is counted towards the limits of this channel', async () => {
      const channelId = await rig.channel({
        ...{ type: 28, key: 'key-m' },
        limits: [
          { metric: 'calls', window: 'now', most: 1 },
          { metric: 'tokens', window: 'day', most: 1_000_000 },
        ],
      })
      await second({ limits: [{ metric: 'requests', window: 'minute', most: 1 }] })
      rig.upstream.forKey('key-m2', fine)
      await change({ failures: ['refusal'] })
      const answered = await refusedStream()
      expect(answered.seen.headers.get('x-tollgate-model')).toBe('m2')
      // In the first case, the call releases its quota while it asks for a place on the channel. In the second, it must
      // not wait for a place.
      for (const failures of [['refusal'], ['refusal', 'overloaded']]) {
        await change({ failures })
        const { caller, seen } = await refusedStream()
        expectRefusal(seen)
        await expectCharged(caller, channelId)
      }
      expect(keys().filter((key) => key === 'key-m2')).toHaveLength(1)
      const { channels } = await rig.gateway.api<{
        channels: { id: number; limits: { metric: string; used: number }[] }[]
      }>('GET', '/api/channel/limits')
      const used = Object.fromEntries(channels.map(({ id, limits }) => [id, limits.map((limit) => limit.used)]))
      expect(used[channelId]).toEqual([0, 30])
      const places = await rig.gateway.context.store.read.selectFrom('cap_places').selectAll().execute()
      expect(places).toEqual([])
      expect((await balanceFaults(rig.gateway.context.store)).faults).toEqual([])
    })

    test('is delivered if the next step fails, and the call no longer counts towards the limits of that step’s channel', async () => {
      const channelId = await first()
      const other = await second({
        limits: [
          { metric: 'calls', window: 'now', most: 1 },
          { metric: 'tokens', window: 'day', most: 1_000_000 },
        ],
      })
      rig.upstream.forKey('key-m2', fake.status(500))
      await change({ failures: ['refusal'] })
      const { caller, seen } = await refusedStream()
      expectRefusal(seen)
      const [row] = await charged(rig, caller, 15)
      expect(row?.channel_id).toBe(channelId)
      const limits = await rig.gateway.api<{ channels: { id: number; limits: { used: number }[] }[] }>(
        'GET',
        '/api/channel/limits',
      )
      expect(limits.channels.find(({ id }) => id === other)?.limits.map(({ used }) => used)).toEqual([0, 0])
      expect((await balanceFaults(rig.gateway.context.store)).faults).toEqual([])
    })

    test('is delivered if the quota covers the refusal but not the next step', async () => {
      const channelId = await first()
      await second()
      rig.upstream.forKey('key-m2', fine)
      await change({ failures: ['refusal'] })
      const { caller, seen } = await refusedStream({ user: 20, token: 20 })
      expectRefusal(seen)
      await expectCharged(caller, channelId, 20)
      expect(keys()).toEqual(['key-m'])
    })

    test('is not delivered if the second step refuses, too: the second refusal is the answer, and the operator pays for the first', async () => {
      const one = await first()
      const two = await second()
      const three = await rig.channel({ type: 28, key: 'key-m3', models: 'm' })
      await rig.gateway.api('PUT', '/api/channel/', { id: three, status: 2 })
      await change({ failures: ['refusal'], steps: [{ model: 'm' }, { model: 'm2' }, { model: 'nobody-serves-it' }] })
      await rates(one, { m: { input: 2, output: 2 } })
      await rates(two, { m2: { input: 4, output: 4 } })
      rig.upstream.forKey('key-m2', chatStream(chunk({ refusal: 'Neither will I.' }), chunk({}, 'stop')))
      const { caller, seen } = await refusedStream()
      expect(seen.text).toContain('Neither will I.')
      expect(seen.text).not.toContain('I will not.')
      const [row] = await charged(rig, caller, 45)
      expect([row?.channel_id, row?.cost]).toEqual([two, 45])
      // If only the first step refuses, the cost is that of the first refusal.
      await rig.gateway.api('PUT', '/api/channel/', { id: two, status: 2 })
      const again = await refusedStream()
      expectRefusal(again.seen)
      const [own] = await charged(rig, again.caller, 15)
      expect([own?.channel_id, own?.cost]).toEqual([one, 15])
      await change({ steps: [{ model: 'm' }, { model: 'm2' }] })
    })

    test('that lacks its end or its usage is delivered and charged like any other stream that lacks them', async () => {
      await first()
      await change({ failures: ['refusal'] })
      for (const events of [refusalChunks, [...refusalChunks, { ...chunk({}), choices: [], usage }]]) {
        rig.upstream.forKey('key-m', streaming(events))
        await change({ failures: ['server_error'] })
        const plain = await call('messages', true)
        const [plainRow] = await rig.gateway.logs()
        await change({ failures: ['refusal'] })
        const { caller, seen } = await call('messages', true)
        expect(lasting(seen.text)).toBe(lasting(plain.seen.text))
        await charged(rig, caller, plainRow?.quota ?? -1)
      }
    })

    test('a caller who left while the next step failed is charged once', async () => {
      await first()
      await second()
      await change({ failures: ['refusal'] })
      const caller = await rig.caller()
      const leaving = new AbortController()
      rig.upstream.forKey('key-m', chatStream(...refusalChunks))
      rig.upstream.forKey('key-m2', fake.neverAnswers())
      const { body, path } = callerCalls.chat
      const sent = rig.gateway
        .post(path, { ...body, model: 'best', stream: true }, caller.token, { signal: leaving.signal })
        .catch(() => undefined)
      await until(() => keys().includes('key-m2'))
      leaving.abort()
      await sent
      // As for every caller who disconnects, the prompt is charged, at the price of the step that was in progress.
      const [row, ...more] = await charged(rig, caller, 24)
      expect([row?.outcome, more]).toEqual(['aborted', []])
    })
  })
})
