// Tools for which a service calls another model. The image tool has a price per image. Other tools of this kind are
// refused unless an option allows items without a price.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { sendJson } from '../helpers/fake-upstream/reply.ts'
import * as fake from '../helpers/fake-upstream.ts'
import { charged, type Rig, see, startRelayRig } from './setup.ts'

let rig: Rig

beforeAll(async () => {
  rig = await startRelayRig({ channels: false })
})
afterAll(() => rig[Symbol.asyncDispose]())
beforeEach(() => rig.clear({ UnpricedModelPolicy: 'refuse' }))

const path = '/v1/responses'
const body = {
  model: 'm',
  input: 'Paint a bridge.',
  tools: [{ type: 'function', name: 'f', parameters: {} }, { type: 'image_generation' }],
}
const answer = fake.behaviour('response', (exchange) =>
  sendJson(exchange, 200, {
    id: 'resp_1',
    object: 'response',
    status: 'completed',
    model: 'm',
    output: [{ type: 'message', id: 'msg_1', role: 'assistant', content: [{ type: 'output_text', text: 'Hello.' }] }],
    usage: { input_tokens: 10, output_tokens: 5, total_tokens: 15 },
  }),
)

test('image_generation has a price per image, which is charged only if an image arrives', async () => {
  await rig.channel()
  const caller = await rig.caller()
  rig.upstream.next(answer)
  const seen = await see(rig.gateway.post(path, body, caller.token))
  expect(seen.status).toBe(200)
  expect(rig.upstream.last.json).toEqual(body)
  await charged(rig, caller, 15)
})

test('tools other than image_generation are accepted', async () => {
  await rig.channel()
  const caller = await rig.caller()
  rig.upstream.next(answer)
  const seen = await see(rig.gateway.post(path, { ...body, tools: body.tools.slice(0, 1) }, caller.token))
  expect(seen.status).toBe(200)
  await charged(rig, caller, 15)
})

test('if the model itself generates images, the tool is not sent, and the request asks the model for an image', async () => {
  await rig.channel({ type: 24 })
  const caller = await rig.caller()
  const parts = [{ inlineData: { mimeType: 'image/png', data: fake.PNG_BASE64 } }]
  rig.upstream.next(
    fake.behaviour('painted', (exchange) =>
      sendJson(exchange, 200, {
        candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP' }],
        usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 1290, totalTokenCount: 1300 },
      }),
    ),
  )
  const seen = await see(rig.gateway.post(path, { ...body, tools: body.tools.slice(1) }, caller.token))
  expect(seen.status).toBe(200)
  await charged(rig, caller, 1300)
})

describe('Anthropic’s advisor tool, which runs another model,', () => {
  const messages = '/v1/messages'
  const advisor = { type: 'advisor_20260301', name: 'advisor', model: 'claude-opus-5-5' }
  const asked = {
    model: 'm',
    max_tokens: 100,
    messages: [{ role: 'user', content: 'Build a bridge.' }],
    tools: [{ name: 'f', input_schema: { type: 'object' } }, advisor],
  }
  const message = fake.behaviour('message', (exchange) =>
    sendJson(exchange, 200, {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'm',
      content: [{ type: 'text', text: 'Hello.' }],
      stop_reason: 'end_turn',
      usage: { input_tokens: 10, output_tokens: 5 },
    }),
  )
  const post = (body: object, token: string) => see(rig.gateway.post(messages, body, token))

  test.each([
    ['', asked],
    [' in a stream', { ...asked, stream: true }],
    [' under any type name', { ...asked, tools: [{ ...advisor, type: 'consult_20270101' }] }],
  ])('is refused%s, and nothing is sent or charged', async (_, body) => {
    await rig.channel({ type: 14 })
    const caller = await rig.caller()
    const seen = await post(body, caller.token)
    expect({ status: seen.status, message: seen.error?.message }).toEqual({
      status: 400,
      message: expect.stringContaining('has no price here: leave the tool out'),
    })
    expect(rig.upstream.requests.length).toBe(0)
    await charged(rig, caller, 0)
  })

  test('is accepted if unpriced items are allowed', async () => {
    await rig.clear({ UnpricedModelPolicy: 'fallback' })
    await rig.channel({ type: 14 })
    const caller = await rig.caller()
    rig.upstream.next(message)
    expect((await post(asked, caller.token)).status).toBe(200)
    expect(rig.upstream.last.json).toEqual(asked)
    await charged(rig, caller, 15)
  })

  test('does not affect other tools', async () => {
    await rig.channel({ type: 14 })
    const caller = await rig.caller()
    const tools = [asked.tools[0], { type: 'web_search_20260209', name: 'web_search' }]
    rig.upstream.next(message)
    expect((await post({ ...asked, tools }, caller.token)).status).toBe(200)
    await charged(rig, caller, 15)
  })
})
