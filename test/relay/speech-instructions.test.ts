// Speech that is priced by tokens: instructions in addition to the text, and the usage reported by Google.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { sendJson } from '../helpers/fake-upstream/reply.ts'
import * as fake from '../helpers/fake-upstream.ts'
import { charged, chargedUnits, type Rig, see, startRelayRig, whileHeld } from './setup.ts'

const path = '/v1/audio/speech'
/** A prompt token costs a quarter of a unit, and an audio token costs five units. */
const google = 'gemini-2.5-flash-preview-tts'
/** A prompt token costs 0.3 units, and an audio token costs six. */
const openai = 'gpt-4o-mini-tts'
let rig: Rig

beforeAll(async () => {
  rig = await startRelayRig({ channels: false })
  await rig.channel({ type: 24, models: google })
  await rig.channel({ models: `${openai},tts-1` })
})
afterAll(() => rig[Symbol.asyncDispose]())

/**
 * Instructions of 9,000 bytes. Each 900 bytes of text count as 300 prompt tokens, or as 1,250 audio tokens if they are
 * spoken.
 */
const long = 'x'.repeat(9_000)
const body = (model: string) => ({ model, input: 'x'.repeat(900), instructions: long, voice: 'alloy' })

function says(beside: object): void {
  const inlineData = { mimeType: 'audio/L16;codec=pcm;rate=24000', data: 'AQACAA==' }
  rig.upstream.next(
    fake.behaviour('speaks', (exchange) =>
      sendJson(exchange, 200, { candidates: [{ content: { parts: [{ inlineData }] } }], ...beside }),
    ),
  )
}

describe('the hold covers the instructions, and they are charged', () => {
  const asSpoken = Math.ceil(3_300 * 0.25 + 13_750 * 5)
  const asPrompt = Math.ceil(3_300 * 0.3 + 1_250 * 6)
  const cases: [how: string, model: string, units: number, ready: () => void][] = [
    ['as spoken text if the model has a single field for all text', google, asSpoken, () => says({})],
    ['as a prompt if they have a separate field', openai, asPrompt, () => rig.upstream.next(fake.okSpeech())],
    ['not at all if the price is per character', 'tts-1', 900 * 7.5, () => rig.upstream.next(fake.okSpeech())],
  ]
  test.each(cases)('%s', async (_, model, units, ready) => {
    const holding = await rig.caller()
    expect(await whileHeld(rig, holding, path, body(model), (held) => held)).toBe(units)
    const caller = await rig.caller()
    ready()
    expect((await see(rig.gateway.post(path, body(model), caller.token))).status).toBe(200)
    await charged(rig, caller, units)
  })
})

describe('the usage reported by Google', () => {
  const usage = (prompt: number, sound: number) => ({
    usageMetadata: {
      promptTokenCount: prompt,
      candidatesTokenCount: sound,
      totalTokenCount: prompt + sound,
      candidatesTokensDetails: [{ modality: 'AUDIO', tokenCount: sound }],
    },
  })

  test('is charged if it is plausible', async () => {
    const caller = await rig.caller()
    says(usage(400, 700))
    const spoken = await see(rig.gateway.post(path, body(google), caller.token))
    expect(spoken.headers.get('content-type')).toBe('audio/wav')
    const [row] = await charged(rig, caller, 400 * 0.25 + 700 * 5)
    expect(row).toMatchObject({ prompt_tokens: 400, completion_tokens: 700, estimated: 0 })
  })

  test.each([
    ['no prompt', usage(0, 700)],
    ['no sound', usage(400, 0)],
    ['an absurdly large prompt', usage(9_000_000, 700)],
    ['an absurd amount of audio', usage(400, 9_000_000)],
  ])('is replaced by the gateway’s count if it contains %s', async (_, beside) => {
    const plain = { model: google, input: 'x'.repeat(900), voice: 'alloy' }
    const caller = await rig.caller()
    says(beside)
    await see(rig.gateway.post(path, plain, caller.token))
    const { units, rows } = await chargedUnits(rig, caller)
    expect(units).toBe(300 * 0.25 + 1_250 * 5)
    expect(rows[0]).toMatchObject({ estimated: 1, content: expect.stringContaining('usage of the upstream refused') })
  })
})
