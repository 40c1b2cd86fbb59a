// Audio and images cost more than text. If an answer may contain them, the hold and the limit on output tokens are
// calculated with their price.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { chat, promptTokens, type Rig, see, startRelayRig, whileHeld } from './setup.ts'

const painter = 'gemini-2.5-flash-image'
let rig: Rig

beforeAll(async () => {
  // Text costs one unit per token, and audio costs eight.
  rig = await startRelayRig({ channels: false, settings: { AudioRatio: '{"m":1}', AudioCompletionRatio: '{"m":8}' } })
  await rig.channel({ models: `m,${painter}` })
})
afterAll(() => rig[Symbol.asyncDispose]())

/** The units held for a call while the upstream is working on it. */
async function heldFor(body: object): Promise<number> {
  return whileHeld(rig, await rig.caller(), '/v1/chat/completions', { ...chat, ...body }, (held) => held)
}

const limit = { max_tokens: 1000 }
/** The upper bound of the quick estimate of the prompt. */
const promptUnits = 20

describe('for each token of the answer, the hold is', () => {
  test.each<[string, object, number]>([
    ['the text price if no audio is requested', limit, 1],
    ['the text price if text is requested', { ...limit, modalities: ['text'] }, 1],
    ['the audio price if audio may be returned', { ...limit, modalities: ['text', 'audio'] }, 8],
    ['the audio price for a stream too', { ...limit, modalities: ['text', 'audio'], stream: true }, 8],
    ['the image price for a model that makes images', { ...limit, model: painter }, 15],
    ['the image price if images are requested', { ...limit, model: painter, modalities: ['image', 'text'] }, 15],
    [
      'the text price if text is requested from an image model',
      { ...limit, model: painter, modalities: ['text'] },
      1.25,
    ],
  ])('%s', async (_, body, units) => {
    const held = await heldFor(body)
    expect(held).toBeGreaterThan(1000 * units)
    expect(held).toBeLessThanOrEqual(1000 * units + promptUnits)
  })
})

describe('a low balance limits the length of the answer according to the price', () => {
  test.each<[string, object, number]>([
    ['of text', {}, 1],
    ['of audio', { modalities: ['text', 'audio'] }, 8],
    ['of audio, in a stream', { modalities: ['text', 'audio'], stream: true }, 8],
  ])('%s', async (_, body, units) => {
    const caller = await rig.caller({ user: 4000 })
    const seen = await see(rig.gateway.post('/v1/chat/completions', { ...chat, ...body }, caller.token))
    expect(seen.status).toBe(200)
    expect(rig.upstream.last.fields['max_tokens']).toBe(Math.floor((4000 - promptTokens) / units))
  })
})
