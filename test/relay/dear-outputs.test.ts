// Sound and images cost more than text: where an answer may be made of them, that is what is held for and capped by.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Bench, chat, promptTokens, see, startBench, whileHeld } from './setup.ts'

const painter = 'gemini-2.5-flash-image'
let bench: Bench

beforeAll(async () => {
  // Text costs one unit, sound eight.
  bench = await startBench({ channels: false, settings: { AudioRatio: '{"m":1}', AudioCompletionRatio: '{"m":8}' } })
  await bench.channel({ models: `m,${painter}` })
})
afterAll(() => bench[Symbol.asyncDispose]())

/** Units held for a call while its upstream works. */
async function heldFor(body: object): Promise<number> {
  return whileHeld(bench, await bench.caller(), '/v1/chat/completions', { ...chat, ...body }, (held) => held)
}

const limit = { max_tokens: 1000 }
/** What the quick estimate of the prompt may be at most. */
const promptUnits = 20

describe('held is, for each token of the answer,', () => {
  test.each<[string, object, number]>([
    ['the price of text where no sound is asked for', limit, 1],
    ['the price of text where text is asked for', { ...limit, modalities: ['text'] }, 1],
    ['the price of sound where it may come', { ...limit, modalities: ['text', 'audio'] }, 8],
    ['that of sound for a stream too', { ...limit, modalities: ['text', 'audio'], stream: true }, 8],
    ['the price of images at a model that paints', { ...limit, model: painter }, 15],
    ['that of images where they are asked for', { ...limit, model: painter, modalities: ['image', 'text'] }, 15],
    ['the price of text at a painter that is asked for text', { ...limit, model: painter, modalities: ['text'] }, 1.25],
  ])('%s', async (_, body, units) => {
    const held = await heldFor(body)
    expect(held).toBeGreaterThan(1000 * units)
    expect(held).toBeLessThanOrEqual(1000 * units + promptUnits)
  })
})

describe('a short balance caps the answer by the price', () => {
  test.each<[string, object, number]>([
    ['of text', {}, 1],
    ['of sound', { modalities: ['text', 'audio'] }, 8],
    ['of sound, as a stream', { modalities: ['text', 'audio'], stream: true }, 8],
  ])('%s', async (_, body, units) => {
    const caller = await bench.caller({ user: 4000 })
    const seen = await see(bench.gateway.post('/v1/chat/completions', { ...chat, ...body }, caller.token))
    expect(seen.status).toBe(200)
    expect(bench.upstream.last.fields['max_tokens']).toBe(Math.floor((4000 - promptTokens) / units))
  })
})
