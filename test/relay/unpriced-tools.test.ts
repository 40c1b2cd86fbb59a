// Tools that a service runs with another model, whose tokens are not in the usage: refused unless what has no price may pass.
import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import { sendJson } from '../helpers/fake-upstream/reply.ts'
import * as fake from '../helpers/fake-upstream.ts'
import { type Bench, charged, expectError, see, startBench } from './setup.ts'

let bench: Bench

beforeAll(async () => {
  bench = await startBench({ channels: false })
})
afterAll(() => bench[Symbol.asyncDispose]())
beforeEach(() => bench.clear({ UnpricedModelPolicy: 'refuse' }))

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

test.each([[body], [{ ...body, stream: true }]])(
  'image_generation → 400, nothing is sent or charged',
  async (asked) => {
    await bench.channel()
    const caller = await bench.caller()
    expectError(await see(bench.gateway.post(path, asked, caller.token)), 400, 'tool_not_priced')
    expect(bench.upstream.requests.length).toBe(0)
    await charged(bench, caller, 0)
  },
)

test('image_generation passes where what has no price may, and its answer is charged', async () => {
  await bench.clear({ UnpricedModelPolicy: 'fallback' })
  await bench.channel()
  const caller = await bench.caller()
  bench.upstream.next(answer)
  const seen = await see(bench.gateway.post(path, body, caller.token))
  expect(seen.status).toBe(200)
  expect(bench.upstream.last.json).toEqual(body)
  await charged(bench, caller, 15)
})

test('other tools pass', async () => {
  await bench.channel()
  const caller = await bench.caller()
  bench.upstream.next(answer)
  const seen = await see(bench.gateway.post(path, { ...body, tools: body.tools.slice(0, 1) }, caller.token))
  expect(seen.status).toBe(200)
  await charged(bench, caller, 15)
})

test('a model that paints itself is asked to, in place of the tool', async () => {
  await bench.channel({ type: 24 })
  const caller = await bench.caller()
  const parts = [{ inlineData: { mimeType: 'image/png', data: fake.PNG_BASE64 } }]
  bench.upstream.next(
    fake.behaviour('painted', (exchange) =>
      sendJson(exchange, 200, {
        candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP' }],
        usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 1290, totalTokenCount: 1300 },
      }),
    ),
  )
  const seen = await see(bench.gateway.post(path, { ...body, tools: body.tools.slice(1) }, caller.token))
  expect(seen.status).toBe(200)
  await charged(bench, caller, 1300)
})
