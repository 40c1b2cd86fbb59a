// A refusal within a stream leads to the next step of a virtual model, just like a refusal in a whole response.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import type { VirtualModel } from '../../contract/api/virtual-model.ts'
import { forEachDatabaseUrl } from '../helpers/databases.ts'
import * as fake from '../helpers/fake-upstream.ts'
import { chatStream, chunk, fine, refusalChunks, refusals, sse, streaming, usage, whole } from './refusals.ts'
import { type CallerName, callerCalls, callers, charged, type Rig, see, startRelayRig } from './setup.ts'

const usual = { AutomaticDisableChannelEnabled: 'false', RetryTimes: '0', KeepAliveInterval: '10' }
const prices = { ModelRatio: '{"m":1,"m2":3}', CompletionRatio: '{"m":1,"m2":1}' }

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

  const failures = (...names: string[]) =>
    rig.gateway.api('PUT', '/api/virtual-model/', { id: virtualId, failures: names })
  const costs = (id: number, models: object) =>
    rig.gateway.api('PUT', `/api/channel/${id}/costs`, { multiplier: null, models })
  const keys = () => rig.upstream.requests.map(({ key }) => key)
  async function call(each: CallerName, isStream: boolean, more: object = {}, second = isStream ? fine : fake.ok()) {
    const caller = await rig.caller()
    rig.upstream.forKey('key-m2', second)
    const { path, body } = callerCalls[each]
    const asked = each === 'gemini' ? more : { ...body, ...more, model: 'best', stream: isStream }
    const streamed = path.replace('generateContent', isStream ? 'streamGenerateContent?alt=sse' : 'generateContent')
    const seen = await see(rig.gateway.post(streamed.replace('/m:', '/best:'), { ...body, ...asked }, caller.token))
    return { caller, seen }
  }

  describe(`a refusal (${name})`, () => {
    test.each(refusals)('%s leads to the next step, streamed and whole, in every dialect', async (...refusal) => {
      const [, type, failure, stream, answer, only] = refusal
      const first = await rig.channel({ type, key: 'key-m' })
      const second = await rig.channel({ type: 28, key: 'key-m2', models: 'm2' })
      await failures(failure)
      for (const each of only ? [only] : callers)
        for (const isStream of [true, false]) {
          rig.upstream.requests.length = 0
          rig.upstream.forKey('key-m', isStream ? stream : answer)
          const { caller, seen } = await call(each, isStream)
          expect([each, isStream, seen.status, seen.error, keys()]).toEqual([
            ...[each, isStream, 200, undefined],
            ['key-m', 'key-m2'],
          ])
          expect(seen.headers.get('x-tollgate-model')).toBe('m2')
          expect(seen.text).not.toMatch(/No|Hm\.|Shall I/)
          const [row, ...more] = await charged(rig, caller, 45)
          expect(more).toEqual([])
          expect(JSON.parse(row?.attempts ?? '')).toMatchObject([
            { channelId: first },
            { channelId: second, error: '' },
          ])
        }
    })

    test('if refusals do not lead to the next step, the refusal is the answer and is charged', async () => {
      await rig.channel({ type: 28, key: 'key-m' })
      await rig.channel({ type: 28, key: 'key-m2', models: 'm2' })
      await failures('server_error', 'content_filter')
      rig.upstream.forKey('key-m', chatStream(...refusalChunks))
      const { caller, seen } = await call('chat', true)
      expect(seen.text).toContain('I will not.')
      await charged(rig, caller, 15)
    })

    test('the refusal of the last step is the answer', async () => {
      await rig.channel({ type: 28, key: 'key-m' })
      await rig.channel({ type: 28, key: 'key-m2', models: 'm2' })
      await failures('refusal')
      rig.upstream.forKey('key-m', chatStream(...refusalChunks))
      const { caller, seen } = await call('messages', true, {}, chatStream(...refusalChunks))
      expect(seen.text).toContain('I will not.')
      await charged(rig, caller, 45)
    })

    test('a stream is not replaced if it contains text before a filter ended it, a tool call or long reasoning', async () => {
      await rig.channel({ type: 28, key: 'key-m' })
      await rig.channel({ type: 28, key: 'key-m2', models: 'm2' })
      await failures('refusal', 'content_filter')
      const tool = { index: 0, id: 'call_1', type: 'function', function: { name: 'look', arguments: '{}' } }
      const deltas = [{ content: 'Well' }, { tool_calls: [tool] }, { reasoning_content: 'Long. '.repeat(50_000) }]
      for (const delta of deltas) {
        rig.upstream.forKey('key-m', chatStream(chunk(delta), chunk({}, 'content_filter')))
        const { caller, seen } = await call('chat', true, { max_tokens: 100 })
        expect(seen.headers.get('x-tollgate-model')).toBe('m')
        expect(seen.text).toContain('content_filter')
        await charged(rig, caller, 15)
      }
      expect(keys()).toEqual(['key-m', 'key-m', 'key-m'])
    })

    test('a stream with content is passed on byte for byte, including its reasoning', async () => {
      await rig.channel({ type: 28, key: 'key-m' })
      await rig.channel({ type: 28, key: 'key-m2', models: 'm2' })
      const events = [
        chunk({ role: 'assistant', content: '' }),
        chunk({ reasoning_content: 'Hm.' }),
        chunk({ content: ' \n' }),
        chunk({ content: 'Hello' }),
        chunk({}, 'stop'),
        { ...chunk({}), choices: [], usage },
        '[DONE]',
      ]
      const texts: string[] = []
      for (const set of [['server_error'], ['refusal']]) {
        await failures(...set)
        rig.upstream.forKey('key-m', streaming(events))
        const { caller, seen } = await call('chat', true, { stream_options: { include_usage: true } })
        texts.push(seen.text)
        await charged(rig, caller, 15)
      }
      expect(texts[1]).toBe(texts[0] ?? '')
      expect(texts[1]).toBe(sse(events))
    })

    test('a stream that fails while it is held back fails like one that has not begun', async () => {
      await rig.channel({ type: 28, key: 'key-m' })
      await rig.channel({ type: 28, key: 'key-m2', models: 'm2' })
      await failures('refusal', 'content_filter', 'server_error')
      const thought = chunk({ reasoning_content: 'Hm.' })
      const filtered = { error: { message: 'Flagged.', code: 'content_filter', type: 'invalid_request_error' } }
      const broken = fake.behaviour('breaks', async (exchange) => {
        exchange.head(200, [['content-type', 'text/event-stream']])
        await exchange.write(sse([thought]))
        exchange.reset()
      })
      for (const fault of [streaming([thought, filtered]), streaming([thought, 'garbage{']), broken]) {
        rig.upstream.forKey('key-m', fault)
        const { caller, seen } = await call('chat', true)
        expect([seen.status, seen.headers.get('x-tollgate-model')]).toEqual([200, 'm2'])
        await charged(rig, caller, 45)
      }
    })

    test('a stream with two choices is the answer if one of them answers, and leads to the next step if both refuse', async () => {
      await rig.channel({ type: 28, key: 'key-m' })
      await rig.channel({ type: 28, key: 'key-m2', models: 'm2' })
      await failures('refusal')
      const second = (event: ReturnType<typeof chunk>) => ({
        ...event,
        choices: event.choices.map((each) => ({ ...each, index: 1 })),
      })
      const speaks = [chunk({ content: 'Yes.' }), chunk({}, 'stop')]
      for (const [other, model] of [[speaks, 'm'] as const, [refusalChunks, 'm2'] as const]) {
        rig.upstream.forKey('key-m', chatStream(...refusalChunks, ...other.map(second)))
        const { seen } = await call('chat', true, { n: 2 })
        expect(seen.headers.get('x-tollgate-model')).toBe(model)
      }
    })

    test('a completion that a filter emptied leads to the next step', async () => {
      await rig.channel({ key: 'key-m' })
      await rig.channel({ key: 'key-m2', models: 'm2' })
      await failures('content_filter')
      const choice = { index: 0, text: '', logprobs: null, finish_reason: 'content_filter' }
      const body = { id: 'c', object: 'text_completion', created: 1, model: 'm', choices: [choice], usage }
      for (const isStream of [true, false]) {
        const caller = await rig.caller()
        const answer = { ...body, choices: [{ ...choice, text: 'Fine.', finish_reason: 'stop' }] }
        rig.upstream.forKey('key-m', isStream ? streaming([body, '[DONE]']) : whole(body))
        rig.upstream.forKey('key-m2', isStream ? streaming([answer, '[DONE]']) : whole(answer))
        const asked = { model: 'best', prompt: 'Hi', stream: isStream }
        const seen = await see(rig.gateway.post('/v1/completions', asked, caller.token))
        expect([seen.status, seen.headers.get('x-tollgate-model')]).toEqual([200, 'm2'])
        await charged(rig, caller, 45)
      }
    })

    test('the operator’s cost of the request includes the refused response, if the costs of both channels are known', async () => {
      // This channel has no prices of its own. At the default quota per dollar, a token at $2 per million costs one
      // unit.
      const first = await rig.channel({ type: 28, key: 'key-m' })
      const second = await rig.channel({ type: 28, key: 'key-m2', models: 'm2' })
      await failures('refusal')
      const costOf = async (isStream: boolean) => {
        const stream = chatStream(...refusalChunks)
        rig.upstream.forKey('key-m', isStream ? stream : (refusals[0]?.[4] ?? stream))
        const { caller } = await call('chat', isStream)
        const [row] = await charged(rig, caller, 45)
        return row?.cost
      }
      await costs(second, { m2: { input: 4, output: 4 } })
      expect(await costOf(true)).toBeNull()
      await costs(first, { m: { input: 2, output: 2 } })
      expect([await costOf(true), await costOf(false)]).toEqual([45, 45])
    })
  })
})
