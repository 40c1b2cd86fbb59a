// Prompts that the gateway can see only in part: the hold covers as much as the model can read.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { sendJson } from '../helpers/fake-upstream/reply.ts'
import * as fake from '../helpers/fake-upstream.ts'
import { charged, chat, expectError, type Rig, see, startRelayRig, whileHeld } from './setup.ts'

let rig: Rig

beforeAll(async () => {
  rig = await startRelayRig({ settings: { HoldWaitTime: '0.1' } })
})
afterAll(() => rig[Symbol.asyncDispose]())

/** The context length of an unknown model, at one unit per token. */
const context = 1_048_576
const paths = { chat: '/v1/chat/completions', responses: '/v1/responses', gemini: '/v1beta/models/m:generateContent' }
const messages = (...parts: object[]) => ({
  model: 'm',
  max_tokens: 100,
  messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }, ...parts] }],
})
const contents = (...parts: object[]) => ({
  contents: [{ role: 'user', parts: [{ text: 'Hi' }, ...parts] }],
  generationConfig: { maxOutputTokens: 100 },
})
const input = (fields: object, ...items: object[]) => ({
  model: 'm',
  max_output_tokens: 100,
  input: [{ role: 'user', content: 'Hi' }, ...items],
  ...fields,
})
const shown = (part: object) => ({ role: 'user', content: [part] })

describe('the hold covers the model’s whole context for', () => {
  test.each<[string, keyof typeof paths, object]>([
    ['a file by its id', 'chat', messages({ type: 'file', file: { file_id: 'file-1' } })],
    ['a file by URL', 'chat', messages({ type: 'file', file: { file_data: 'https://a.example/a.pdf' } })],
    ['a video by URL', 'chat', messages({ type: 'video_url', video_url: { url: 'https://a.example/a.mp4' } })],
    ['a file by its id in the Responses API', 'responses', input({}, shown({ type: 'input_file', file_id: 'file-1' }))],
    [
      'a file by URL in the Responses API',
      'responses',
      input({}, shown({ type: 'input_file', file_url: 'https://a.example/a' })),
    ],
    ['an earlier response', 'responses', input({ previous_response_id: 'resp_1' })],
    ['a stored conversation', 'responses', input({ conversation: 'conv_1' })],
    ['a stored prompt', 'responses', input({ prompt: { id: 'pmpt_1' } })],
    ['a stored item', 'responses', input({}, { type: 'item_reference', id: 'msg_1' })],
  ])('%s', async (_, dialect, body) => {
    const caller = await rig.caller({ user: 3_000_000 })
    const held = await whileHeld(rig, caller, paths[dialect], body, (amount) => amount)
    expect(held).toBe(context + 100)
  })
})

describe('the hold covers only the visible text for', () => {
  test.each<[string, keyof typeof paths, object]>([
    ['an image by URL', 'chat', messages({ type: 'image_url', image_url: { url: 'https://a.example/a.png' } })],
    ['an inline file', 'chat', messages({ type: 'file', file: { file_data: 'data:text/plain;base64,SGk=' } })],
    [
      'an image by URL in the Responses API',
      'responses',
      input({}, shown({ type: 'input_image', image_url: 'https://a.example/a.png' })),
    ],
    ['a request without an earlier response', 'responses', input({ previous_response_id: null })],
  ])('%s', async (_, dialect, body) => {
    const held = await whileHeld(rig, await rig.caller(), paths[dialect], body, (amount) => amount)
    expect(held).toBeLessThan(1000)
  })
})

describe('with a Google service', () => {
  beforeAll(() => rig.clear())
  test.each<[string, object]>([
    ['a stored prompt', { ...contents(), cachedContent: 'cachedContents/1' }],
    ['a video', contents({ fileData: { mimeType: 'video/mp4', fileUri: 'https://a.example/a.mp4' } })],
  ])('the hold for %s also covers the whole context', async (_, body) => {
    await rig.clear()
    await rig.channel({ type: 24 })
    const caller = await rig.caller({ user: 3_000_000 })
    const held = await whileHeld(rig, caller, paths.gemini, body, (amount) => amount)
    expect(held).toBe(context + 100)
  })
  afterAll(async () => {
    await rig.clear()
    await rig.channel()
  })
})

describe('an account whose balance does not cover a whole context', () => {
  const body = messages({ type: 'file', file: { file_id: 'file-1' } })

  test('can make one call at a time, whose hold is the whole balance', async () => {
    const caller = await rig.caller({ user: 500_000 })
    await whileHeld(rig, caller, paths.chat, body, async (held) => {
      expect(held).toBe(500_000)
      expectError(await see(rig.gateway.post(paths.chat, body, caller.token)), 403, 'insufficient_user_quota')
    })
  })

  test('gets an answer, and is charged for what was used', async () => {
    const caller = await rig.caller({ user: 500_000, token: 500_000 })
    const usage = { prompt_tokens: 300_000, completion_tokens: 5, total_tokens: 300_005 }
    rig.upstream.next(fake.ok({ usage }))
    const seen = await see(rig.gateway.post(paths.chat, body, caller.token))
    expect(seen.status).toBe(200)
    expect(rig.upstream.last.fields['max_tokens']).toBe(100)
    await charged(rig, caller, 300_005, 500_000)
  })

  test('is charged for the tokens of an item that is stored at the service', async () => {
    const caller = await rig.caller({ user: 500_000, token: 500_000 })
    const answer = {
      id: 'resp_1',
      object: 'response',
      status: 'completed',
      model: 'm',
      output: [{ type: 'message', id: 'msg_1', role: 'assistant', content: [{ type: 'output_text', text: 'Hello.' }] }],
      usage: { input_tokens: 100_000, output_tokens: 5, total_tokens: 100_005 },
    }
    rig.upstream.next(fake.behaviour('whole', (exchange) => sendJson(exchange, 200, answer)))
    const body = input({}, { type: 'item_reference', id: 'msg_0' })
    const seen = await see(rig.gateway.post(paths.responses, body, caller.token))
    expect(seen.status).toBe(200)
    await charged(rig, caller, 100_005, 500_000)
  })

  test('can still make calls with visible prompts concurrently', async () => {
    const caller = await rig.caller({ user: 5000 })
    await whileHeld(rig, caller, paths.chat, { ...chat, max_tokens: 100 }, async () => {
      const seen = await see(rig.gateway.post(paths.chat, { ...chat, max_tokens: 100 }, caller.token))
      expect(seen.status).toBe(200)
    })
  })
})
