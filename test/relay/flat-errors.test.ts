// Errors that services send with status 200 in formats of their own never count as an answer or as part of one, in any
// dialect.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import * as fake from '../helpers/fake-upstream.ts'
import { charged, chargedUnits, chat, chatStream, expectError, type Rig, see, startRelayRig } from './setup.ts'

let rig: Rig

beforeAll(async () => {
  rig = await startRelayRig({
    channels: false,
    settings: { ModelRatio: '{"m":1,"tts-1":1,"whisper-1":1,"painter":3}' },
  })
})
afterAll(() => rig[Symbol.asyncDispose]())

const flat: readonly (readonly [form: string, body: object])[] = [
  ['of vLLM', { object: 'error', message: 'boom', type: 'InternalServerError', param: null, code: 500 }],
  ['of vLLM without a code', { object: 'error', message: 'boom', type: 'BadRequest', param: null, code: null }],
  ['with a string as its code', { code: 'Throttling', message: 'boom' }],
  ['with a number as its code', { code: 1301, msg: 'boom' }],
  ['of MiniMax', { base_resp: { status_code: 1008, status_msg: 'boom' } }],
]
const stopped = { choices: [{ index: 0, delta: {}, finish_reason: 'error' }] }
const hello = { choices: [{ index: 0, delta: { content: 'Hel' } }] }
const eventOf = (data: object | string) => `data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`

const says = (type: string, text: string) =>
  fake.behaviour('a form of its own', async (exchange) => {
    exchange.head(200, [['content-type', type]])
    await exchange.write(text)
    exchange.end()
  })
const streams = (...data: (object | string)[]) => says('text/event-stream', data.map(eventOf).join(''))

async function call(path: string, body: object) {
  const caller = await rig.caller()
  const isForm = body instanceof FormData
  const headers = { authorization: `Bearer ${caller.token}`, ...(!isForm && { 'content-type': 'application/json' }) }
  const answer = fetch(rig.gateway.url + path, {
    method: 'POST',
    headers,
    body: isForm ? body : JSON.stringify(body),
  })
  return { caller, seen: await see(answer) }
}

describe('an error with status 200 in the middle of a stream becomes an error event, and no end marker follows:', () => {
  beforeAll(async () => {
    await rig.clear()
    await rig.channel({ models: 'm' })
  })

  test.each([...flat, ['as the finish reason', stopped] as const])('chat, %s', async (_, body) => {
    rig.upstream.next(streams(hello, body, '[DONE]'))
    const { caller, seen } = await call('/v1/chat/completions', chatStream)
    expect(seen.text).toContain('Hel')
    expect(seen.error?.message).toContain(body === stopped ? 'ended its answer with an error' : 'boom')
    expect(seen.text).not.toContain('[DONE]')
    const { rows } = await chargedUnits(rig, caller)
    expect(rows).toMatchObject([{ outcome: 'interrupted' }])
  })

  test.each([...flat, ['as the finish reason', stopped] as const])('messages, %s', async (_, body) => {
    rig.upstream.next(streams(hello, body, '[DONE]'))
    const { caller, seen } = await call('/v1/messages', { ...chatStream, max_tokens: 50 })
    expect(seen.text).toContain('Hel')
    expect(seen.text).toContain('event: error')
    expect(seen.text).not.toContain('message_stop')
    const { rows } = await chargedUnits(rig, caller)
    expect(rows).toMatchObject([{ outcome: 'interrupted' }])
  })
})

describe('if the first event is an error with status 200, the next channel is tried; if there is no other channel, the call fails and costs nothing:', () => {
  test.each(flat)('%s', async (_, body) => {
    await rig.clear({ RetryTimes: '1' })
    await rig.channel({ key: 'bad', models: 'm', priority: 1 })
    rig.upstream.forKey('bad', streams(body, '[DONE]'))
    const alone = await call('/v1/chat/completions', chatStream)
    expect(alone.seen.status).toBeGreaterThanOrEqual(400)
    expect(alone.seen.error?.message).toContain('boom')
    expect(await charged(rig, alone.caller, 0)).toEqual([])
    await rig.channel({ key: 'good', models: 'm' })
    const { caller, seen } = await call('/v1/chat/completions', chatStream)
    expect(seen.text).toEndWith('[DONE]\n\n')
    await charged(rig, caller, 15)
  })
})

describe('if the complete response is an error with status 200, the call fails and costs nothing:', () => {
  const upload = (format: string) => {
    const form = new FormData()
    form.set('model', 'whisper-1')
    form.set('response_format', format)
    form.set('file', new File([new Uint8Array(2000)], 'a.mp3'))
    return form
  }
  const speech = { model: 'tts-1', input: 'hello world', voice: 'alloy' }
  const images = { model: 'painter', prompt: 'a bridge', stream: true }

  beforeAll(async () => {
    await rig.clear({ RetryTimes: '0' })
    await rig.channel({ models: 'm,tts-1,whisper-1,painter' })
  })

  test.each(
    flat.flatMap(([form, error]) =>
      [
        ['speech', '/v1/audio/speech', () => speech, says('application/json', JSON.stringify(error))],
        [
          'a transcript',
          '/v1/audio/transcriptions',
          () => upload('json'),
          says('application/json', JSON.stringify(error)),
        ],
        [
          'a plain-text transcript',
          '/v1/audio/transcriptions',
          () => upload('text'),
          says('text/plain', JSON.stringify(error)),
        ],
        ['chat', '/v1/chat/completions', () => chat, says('application/json', JSON.stringify(error))],
        ['a stream of images', '/v1/images/generations', () => images, streams(error, '[DONE]')],
        [
          'a stream of speech',
          '/v1/audio/speech',
          () => ({ ...speech, stream_format: 'sse' }),
          streams(error, '[DONE]'),
        ],
      ].map(
        ([kind, ...rest]) => [`${String(kind)}, ${form}`, ...rest] as [string, string, () => object, fake.Behaviour],
      ),
    ),
  )('%s', async (_, path, body, behaviour) => {
    rig.upstream.next(behaviour)
    const { caller, seen } = await call(path, body())
    expect(seen.status).toBeGreaterThanOrEqual(400)
    expect(seen.error?.message).toContain('boom')
    expect(await charged(rig, caller, 0)).toEqual([])
  })

  test.each([
    ['speech', '/v1/audio/speech', () => speech],
    ['a JSON transcript', '/v1/audio/transcriptions', () => upload('json')],
  ])('text instead of %s', async (_, path, body) => {
    rig.upstream.next(says('text/plain', 'upstream connect error or disconnect/reset before headers'))
    const { caller, seen } = await call(path, body())
    expectError(seen, 502, 'bad_response_body')
    expect(await charged(rig, caller, 0)).toEqual([])
  })
})
