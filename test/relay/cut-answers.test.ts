// The charge for an event stream that broke off: the caller pays for what arrived, and nothing if nothing arrived.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import * as fake from '../helpers/fake-upstream.ts'
import { charged, chatStream, expectErrorEvent, type Rig, type Seen, see, startRelayRig } from './setup.ts'

/** The units charged for one image: ratio 3 × 1000. */
const each = 3000

let rig: Rig
/** How far the gateway's clock is ahead of the real time. */
let aheadMs = 0

beforeAll(async () => {
  rig = await startRelayRig({
    channels: false,
    clock: { nowMs: () => Date.now() + aheadMs },
    settings: { ModelRatio: '{"m":1,"painter":3}', KeepAliveInterval: '0.3', RelayTimeout: '600' },
  })
  await rig.channel({ models: 'm,painter,tts-1' })
})
afterAll(() => rig[Symbol.asyncDispose]())

const eventOf = (data: object) => `data: ${JSON.stringify(data)}\n\n`
const refusal = eventOf({ error: { message: 'out of order', type: 'server_error' } })

type Cut = 'broken' | 'refused' | 'overdue'

/**
 * After this many keep-alives, the gateway has certainly begun the caller's response. The first ones may be sent while
 * other channels can still be tried.
 */
const someKeepAlives = 5

/** Calls an upstream that sends these events and, once the caller has read them, ends in the given way. */
async function cut(how: Cut, path: string, body: object, said: readonly object[]) {
  const caller = await rig.caller()
  const { promise: isRead, resolve: read } = Promise.withResolvers<void>()
  rig.upstream.next(
    fake.behaviour(how, async (exchange) => {
      exchange.head(200, fake.streamHeaders())
      for (const event of said) await exchange.write(eventOf(event))
      await isRead
      if (how === 'broken') return exchange.reset()
      if (how === 'overdue') return exchange.hang()
      await exchange.write(refusal)
      exchange.end()
    }),
  )
  const answer = await rig.gateway.post(path, body, caller.token)
  const seen = await see(
    whenRead(answer, said.length || someKeepAlives, () => {
      if (how === 'overdue') aheadMs += 600_000
      read()
    }),
  )
  return { caller, seen }
}

/** Passes a response on, and calls `then` when the given number of its events have been read. */
function whenRead({ body, headers, status }: Response, events: number, then: () => void): Response {
  let text = ''
  const watch = new TransformStream<Uint8Array, Uint8Array>({
    transform(bytes, controller) {
      text += Buffer.from(bytes).toString()
      if (text.split('\n\n').length > events) then()
      controller.enqueue(bytes)
    },
  })
  return new Response(body?.pipeThrough(watch), { status, headers })
}

function expectEnd(how: Cut, seen: Seen): void {
  if (how === 'refused') expect(seen.error?.message).toBe('out of order')
  else expectErrorEvent(seen, how === 'overdue' ? 'upstream_timeout' : 'upstream_stream_error')
}

const ends: readonly Cut[] = ['broken', 'refused', 'overdue']

describe('a stream that delivered only keep-alives costs nothing:', () => {
  test.each(ends.map((how) => [how]))('%s', async (how) => {
    const { caller, seen } = await cut(how, '/v1/chat/completions', chatStream, [])
    expect(seen.text).toStartWith(': keep-alive\n\n')
    expectEnd(how, seen)
    const [row] = await charged(rig, caller, 0)
    expect(row).toMatchObject({ outcome: 'interrupted', prompt_tokens: 0, completion_tokens: 0, first_byte_time: 0 })
  })
})

describe('if a stream of images breaks off, the charge is for', () => {
  const series = {
    model: 'painter',
    prompt: 'a bridge',
    stream: true,
    sequential_image_generation: 'auto',
    sequential_image_generation_options: { max_images: 4 },
  }
  const picture = { type: 'image_generation.partial_succeeded', url: 'http://127.0.0.1/image.png' }
  const draft = { type: 'image_generation.partial_image', b64_json: fake.PNG_BASE64, partial_image_index: 0 }

  test.each(ends.flatMap((how) => [[how, 1] as const, [how, 3] as const]))(
    'the images that arrived: %s after %d',
    async (how, count) => {
      const said = Array.from({ length: count }, () => picture)
      const { caller, seen } = await cut(how, '/v1/images/generations', series, said)
      expectEnd(how, seen)
      const [row] = await charged(rig, caller, count * each)
      expect(row).toMatchObject({ outcome: 'interrupted' })
    },
  )

  const three = { model: 'painter', prompt: 'a bridge', stream: true, n: 3 }
  const made = { type: 'image_generation.completed', b64_json: fake.PNG_BASE64 }

  test.each(ends.flatMap((how) => [[how, 1] as const, [how, 2] as const]))(
    'the images that arrived, if each image ends with its own event: %s after %d of 3',
    async (how, count) => {
      const said = Array.from({ length: count }, () => made)
      const { caller, seen } = await cut(how, '/v1/images/generations', three, said)
      expectEnd(how, seen)
      const [row] = await charged(rig, caller, count * each)
      expect(row).toMatchObject({ outcome: 'interrupted' })
    },
  )

  test('all images, if each one is complete, even though the connection then breaks', async () => {
    const { caller, seen } = await cut('broken', '/v1/images/generations', three, [made, made, made])
    expect(seen.broken).toBe(false)
    const [row] = await charged(rig, caller, 3 * each)
    expect(row).toMatchObject({ outcome: 'complete' })
  })

  test('the images that arrived, if the service makes fewer than requested and reports that it is done', async () => {
    const caller = await rig.caller()
    rig.upstream.next(
      fake.behaviour('fewer', async (exchange) => {
        exchange.head(200, fake.streamHeaders())
        await exchange.write(`${eventOf(made)}data: [DONE]\n\n`)
        exchange.end()
      }),
    )
    await see(rig.gateway.post('/v1/images/generations', three, caller.token))
    const [row] = await charged(rig, caller, each)
    expect(row).toMatchObject({ outcome: 'complete' })
  })

  test('no image, if only a draft arrived', async () => {
    const body = { model: 'painter', prompt: 'a bridge', stream: true, partial_images: 2 }
    const { caller } = await cut('broken', '/v1/images/generations', body, [draft])
    await charged(rig, caller, 0)
  })

  test('all images, if the end of the stream has arrived too', async () => {
    const caller = await rig.caller()
    const end = { type: 'image_generation.completed', usage: { generated_images: 2 } }
    rig.upstream.next(
      fake.behaviour('whole', async (exchange) => {
        exchange.head(200, fake.streamHeaders())
        for (const event of [picture, picture, end]) await exchange.write(eventOf(event))
        exchange.end()
      }),
    )
    await see(rig.gateway.post('/v1/images/generations', series, caller.token))
    const [row] = await charged(rig, caller, 2 * each)
    expect(row).toMatchObject({ outcome: 'complete' })
  })
})

describe('incomplete speech, as events or as bytes, costs nothing if the upstream ended it:', () => {
  const speech = { model: 'tts-1', input: 'Hello', voice: 'alloy', stream_format: 'sse' }
  const said = [{ type: 'speech.audio.delta', audio: 'AAAA' }]

  test.each([['broken'], ['refused']] as const)('%s', async (how) => {
    const { caller, seen } = await cut(how, '/v1/audio/speech', speech, said)
    expectEnd(how, seen)
    const [row] = await charged(rig, caller, 0)
    expect(row).toMatchObject({ outcome: 'interrupted' })
  })

  test('but its full price if the gateway’s own time limit ended it', async () => {
    const { caller, seen } = await cut('overdue', '/v1/audio/speech', speech, said)
    expectEnd('overdue', seen)
    const { used } = await rig.gateway.balances(caller.userId, caller.tokenId)
    expect(used).toBeGreaterThan(0)
  })
})
