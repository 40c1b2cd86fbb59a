// Audio and images in answers: what they cost, whether or not the upstream reports them, and the hold for images in
// requests.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { sendJson } from '../helpers/fake-upstream/reply.ts'
import { sendEvents } from '../helpers/fake-upstream/sse.ts'
import * as fake from '../helpers/fake-upstream.ts'
import {
  charged,
  chargedUnits,
  chat,
  expectError,
  expectErrorEvent,
  promptTokens,
  type Rig,
  see,
  startRelayRig,
  until,
} from './setup.ts'

const painter = 'gemini-2.5-flash-image'
let rig: Rig

beforeAll(async () => {
  // A text token costs one unit, and an audio token costs eight units. With the image model, a prompt token costs 0.15
  // units, a text token of the answer 1.25 units and an image token 15 units.
  rig = await startRelayRig({ channels: false, settings: { AudioRatio: '{"m":1}', AudioCompletionRatio: '{"m":8}' } })
  await rig.channel({ models: `m,gpt-image-1,gpt-image-1.5,${painter}` })
  await rig.channel({ type: 24, models: 'gemini-3.1-flash-image' })
})
afterAll(() => rig[Symbol.asyncDispose]())

const path = '/v1/chat/completions'
/** An image in base64 that is as long as the smallest image. */
const image = { type: 'image_url', image_url: { url: `data:image/png;base64,${'A'.repeat(4000)}` } }
/** A second of audio: 48,000 bytes. */
const second = 'A'.repeat(64_000)

function answers(body: object): void {
  rig.upstream.next(fake.behaviour('answers', (exchange) => sendJson(exchange, 200, body)))
}

const whole = (message: object, usage?: object) => ({
  id: 'c1',
  object: 'chat.completion',
  choices: [{ index: 0, message: { role: 'assistant', ...message }, finish_reason: 'stop' }],
  ...(usage && { usage }),
})

describe('an image that the upstream reports as image tokens', () => {
  const usage = {
    prompt_tokens: 10,
    completion_tokens: 1350,
    total_tokens: 1360,
    completion_tokens_details: { reasoning_tokens: 50, image_tokens: 1290 },
  }

  test('costs the image price, and the text beside it costs the text price', async () => {
    const caller = await rig.caller()
    answers(whole({ content: 'Here it is.', images: [image] }, usage))
    expect((await see(rig.gateway.post(path, { ...chat, model: painter }, caller.token))).status).toBe(200)
    await charged(rig, caller, Math.ceil(10 * 0.15 + 60 * 1.25 + 1290 * 15))
  })

  test('costs the text price if the image tokens exceed the total', async () => {
    const caller = await rig.caller()
    const absurd = { ...usage, completion_tokens_details: { image_tokens: 1351 } }
    answers(whole({ content: 'Here it is.' }, absurd))
    expect((await see(rig.gateway.post(path, { ...chat, model: painter }, caller.token))).status).toBe(200)
    await charged(rig, caller, Math.ceil(10 * 0.15 + 1350 * 1.25))
  })
})

test('an image that the upstream counts only in its total still costs the image price', async () => {
  const caller = await rig.caller()
  answers(
    whole({ content: 'Here.', images: [image] }, { prompt_tokens: 10, completion_tokens: 1300, total_tokens: 1310 }),
  )
  await see(rig.gateway.post(path, { ...chat, model: painter }, caller.token))
  await charged(rig, caller, Math.ceil(10 * 0.15 + 10 * 1.25 + 1290 * 15))
})

test('an image is charged even if the upstream’s total contains only the text and the image is counted separately', async () => {
  const caller = await rig.caller()
  const details = { completion_tokens_details: { image_tokens: 1290 } }
  const usage = { prompt_tokens: 10, completion_tokens: 60, total_tokens: 1360, ...details }
  answers(whole({ content: 'Here.', images: [image] }, usage))
  await see(rig.gateway.post(path, { ...chat, model: painter }, caller.token))
  await charged(rig, caller, Math.ceil(10 * 0.15 + 60 * 1.25 + 1290 * 15))
})

describe('the gateway counts what the upstream does not report:', () => {
  test('an image', async () => {
    const caller = await rig.caller()
    answers(whole({ content: '', images: [image] }))
    await see(rig.gateway.post(path, { ...chat, model: painter }, caller.token))
    await charged(rig, caller, Math.ceil(promptTokens * 0.15 + 1290 * 15))
  })

  test('an image that the upstream counts as zero tokens', async () => {
    const caller = await rig.caller()
    answers(whole({ content: '', images: [image] }, { prompt_tokens: 8, completion_tokens: 0, total_tokens: 8 }))
    await see(rig.gateway.post(path, { ...chat, model: painter }, caller.token))
    await charged(rig, caller, Math.ceil(promptTokens * 0.15 + 1290 * 15))
  })

  test('audio', async () => {
    const caller = await rig.caller()
    answers(whole({ content: null, audio: { id: 'a', data: second, transcript: '' } }))
    await see(rig.gateway.post(path, { ...chat, modalities: ['text', 'audio'] }, caller.token))
    await charged(rig, caller, promptTokens + 20 * 8)
  })
})

interface Leaving {
  path?: string
  body: object
  said: readonly object[]
  /** The text that the caller waits for before disconnecting. */
  sign: string
}

/** The upstream sends `said` and then stalls. The caller disconnects when `sign` has arrived. */
async function leave({ path: to = path, body, said, sign }: Leaving) {
  const caller = await rig.caller()
  rig.upstream.next(
    fake.behaviour('goes on', async (exchange) => {
      exchange.head(200, fake.streamHeaders())
      await sendEvents(exchange, [...said], {}, {})
      return exchange.hang()
    }),
  )
  const controller = new AbortController()
  const response = await rig.gateway.post(to, body, caller.token, { signal: controller.signal })
  const decoder = new TextDecoder()
  let text = ''
  for await (const bytes of response.body ?? []) {
    text += decoder.decode(bytes, { stream: true })
    if (text.includes(sign)) break
  }
  expect(text).toContain(sign)
  controller.abort()
  await until(async () => (await rig.gateway.balances(caller.userId, caller.tokenId)).holds === 0)
  return chargedUnits(rig, caller)
}

const delta = (fields: object) => ({ id: 'c1', choices: [{ index: 0, delta: fields, finish_reason: null }] })
const half = second.slice(0, 32_000)

describe('a caller who disconnects pays for', () => {
  test('the image that arrived', async () => {
    const said = [delta({ role: 'assistant', content: '' }), delta({ images: [image] })]
    const { units, rows } = await leave({ body: { ...chat, model: painter, stream: true }, said, sign: 'image_url' })
    expect(rows[0]).toMatchObject({ outcome: 'aborted', estimated: 1, completion_tokens: 1290 })
    expect(units).toBe(Math.ceil(promptTokens * 0.15 + 1290 * 15))
  })

  test('the audio that arrived', async () => {
    const audio = { modalities: ['text', 'audio'], audio: { voice: 'alloy', format: 'pcm16' } }
    const said = [delta({ audio: { data: half } }), delta({ audio: { data: half } }), delta({ audio: { id: 'last' } })]
    const { units, rows } = await leave({ body: { ...chat, ...audio, stream: true }, said, sign: '"last"' })
    expect(rows[0]).toMatchObject({ outcome: 'aborted', estimated: 1, completion_tokens: 20 })
    expect(units).toBe(promptTokens + 20 * 8)
  })

  test('the audio that arrived, if the caller uses another dialect; the audio is not counted as text', async () => {
    const said = [delta({ audio: { data: half } }), delta({ audio: { data: half } }), delta({ content: 'last words' })]
    const { rows } = await leave({
      path: '/v1beta/models/m:streamGenerateContent?alt=sse',
      body: {
        contents: [{ role: 'user', parts: [{ text: 'Hi' }] }],
        generationConfig: { responseModalities: ['AUDIO'] },
      },
      said,
      sign: 'last words',
    })
    expect(rows[0]).toMatchObject({ outcome: 'aborted', estimated: 1 })
    expect(rows[0]?.completion_tokens).toBeGreaterThan(20)
    expect(rows[0]?.completion_tokens).toBeLessThan(26)
  })
})

test('a caller who disconnects in the middle of a large image pays for it', async () => {
  const caller = await rig.caller()
  const large = { type: 'image_url', image_url: { url: `data:image/png;base64,${'A'.repeat(600_000)}` } }
  const text = `data: ${JSON.stringify(delta({ images: [large] }))}\n\n`
  const left = Promise.withResolvers<void>()
  rig.upstream.next(
    fake.behaviour('a large image', async (exchange) => {
      exchange.head(200, fake.streamHeaders())
      await exchange.write(text.slice(0, -10))
      await left.promise
      await exchange.write(text.slice(-10))
      return exchange.hang()
    }),
  )
  const controller = new AbortController()
  const body = { ...chat, model: painter, stream: true }
  const response = await rig.gateway.post(path, body, caller.token, { signal: controller.signal })
  let bytes = 0
  for await (const piece of response.body ?? []) {
    bytes += piece.length
    if (bytes >= text.length - 10) break
  }
  controller.abort()
  left.resolve()
  const { units, rows } = await chargedUnits(rig, caller)
  expect(rows[0]).toMatchObject({ outcome: 'aborted', completion_tokens: 1290 })
  expect(units).toBe(Math.ceil(promptTokens * 0.15 + 1290 * 15))
})

describe('if an upstream sends more than the quota covers, it is stopped:', () => {
  const stopped = async (user: number, body: object, events: readonly object[]) => {
    const caller = await rig.caller({ user, token: user })
    rig.upstream.next(
      fake.behaviour('ignores the limit', async (exchange) => {
        exchange.head(200, fake.streamHeaders())
        await sendEvents(exchange, [...events], {}, { delayMs: 20 })
        exchange.end()
      }),
    )
    const seen = await see(rig.gateway.post(path, { ...chat, ...body, stream: true }, caller.token))
    expectErrorEvent(seen, 'quota_exhausted_mid_stream')
    return { seen, units: (await chargedUnits(rig, caller, user)).units }
  }

  test.each([{}, { modalities: ['text'] }])('images, requested as %p', async (asked) => {
    const images = [1, 2, 3].map(() => delta({ images: [image] }))
    const { seen, units } = await stopped(25_000, { model: painter, ...asked }, images)
    expect(seen.text.split('image_url":{').length - 1).toBe(1)
    expect(units).toBe(Math.ceil(promptTokens * 0.15 + 1290 * 15))
  })

  test('audio', async () => {
    const sound = Array.from({ length: 40 }, () => delta({ audio: { data: second.slice(0, 6400) } }))
    const { units } = await stopped(200, { modalities: ['text', 'audio'] }, sound)
    // 0.1 s of audio is two tokens at eight units each.
    expect(units).toBeGreaterThan(100)
    expect(units).toBeLessThanOrEqual(200)
  })
})

describe('an image endpoint', () => {
  const form = (fields: Record<string, string>) => {
    const body = new FormData()
    for (const [name, value] of Object.entries({ model: 'gpt-image-1', prompt: 'a lake', ...fields }))
      body.append(name, value)
    for (const name of ['a.png', 'b.png']) body.append('image[]', new Blob(['png']), name)
    return body
  }
  const send = (body: FormData, token: string) =>
    fetch(`${rig.gateway.url}/v1/images/edits`, {
      method: 'POST',
      body,
      headers: { authorization: `Bearer ${token}` },
    })
  /** The cost of the prompt and one image of 1024 × 1024 at low quality. */
  const least = 6 * 2.5 + 272 * 20
  const asked = { size: '1024x1024', quality: 'low' }

  test.each<[string, Record<string, string>, number]>([
    ['images in the request', {}, 2 * 500 * 5],
    ['images at high detail', { input_fidelity: 'high' }, 2 * 6500 * 5],
    ['images sent to a model of the same family', { model: 'gpt-image-1.5' }, 2 * 500 * 4 - 272 * 4],
  ])('holds for %s', async (_, fields, more) => {
    const poor = await rig.caller({ user: least + more - 1 })
    const refused = await see(send(form({ ...asked, ...fields }), poor.token))
    expectError(refused, 403, 'insufficient_user_quota')
    const caller = await rig.caller({ user: least + more })
    rig.upstream.next(fake.okImages({ count: 1 }))
    expect((await see(send(form({ ...asked, ...fields }), caller.token))).status).toBe(200)
  })

  test('ignores a report of zero tokens for images', async () => {
    const caller = await rig.caller()
    const usage = { input_tokens: 10, output_tokens: 0, total_tokens: 10 }
    answers({ created: 1, data: [{ b64_json: 'AAAA' }], usage })
    const body = { model: 'gpt-image-1', prompt: 'a lake', ...asked }
    expect((await see(rig.gateway.post('/v1/images/generations', body, caller.token))).status).toBe(200)
    await charged(rig, caller, least)
  })

  test('charges reasoning and text of an image model at the text price, not at the image price', async () => {
    const caller = await rig.caller()
    answers({
      candidates: [{ content: { role: 'model', parts: [{ inlineData: { mimeType: 'image/png', data: 'AAAA' } }] } }],
      usageMetadata: {
        promptTokenCount: 10,
        candidatesTokenCount: 1140,
        thoughtsTokenCount: 200,
        totalTokenCount: 1350,
        candidatesTokensDetails: [{ modality: 'IMAGE', tokenCount: 1120 }],
      },
    })
    const body = { model: 'gemini-3.1-flash-image', prompt: 'a sea' }
    expect((await see(rig.gateway.post('/v1/images/generations', body, caller.token))).status).toBe(200)
    // The prices per million tokens are $0.5 for the prompt, $3 for reasoning and text, and $60 for images.
    await charged(rig, caller, Math.ceil(10 * 0.25 + 220 * 1.5 + 1120 * 30))
  })
})

test('an image with an empty text field is charged as an image, and the upstream’s high token count is accepted', async () => {
  const caller = await rig.caller()
  const content = [{ ...image, text: '' }]
  rig.upstream.next(fake.ok({ usage: { prompt_tokens: 15_000, completion_tokens: 1, total_tokens: 15_001 } }))
  await see(rig.gateway.post(path, { model: 'm', messages: [{ role: 'user', content }] }, caller.token))
  await charged(rig, caller, 15_001)
})

test('if images cost as much as text, their cached tokens keep their lower price', async () => {
  const caller = await rig.caller()
  await rig.gateway.setOption('CacheRatio', '{"m":0.1}')
  rig.upstream.next(
    fake.ok({
      usage: {
        prompt_tokens: 1000,
        completion_tokens: 1,
        total_tokens: 1001,
        prompt_tokens_details: { cached_tokens: 900, image_tokens: 800 },
      },
    }),
  )
  const content = [image, { type: 'text', text: 'What is it?' }]
  await see(rig.gateway.post(path, { model: 'm', messages: [{ role: 'user', content }] }, caller.token))
  await charged(rig, caller, 100 + 90 + 1)
})
