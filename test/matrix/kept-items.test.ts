// Callers of the Responses API can refer to items of earlier answers by id. For services without such ids, the gateway
// stores the items and inserts them into the next request.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { generateText, type ModelMessage } from 'ai'
import OpenAI from 'openai'
import type { Clock } from '../../server/lib/clock.ts'
import { createItemStore } from '../../server/relay/call/item-store.ts'
import { failureIn } from './support/failures.ts'
import { fakeOf, says } from './support/fakes/index.ts'
import { scenarios } from './support/features.ts'
import { model, type Rig, startMatrixRig } from './support/rig.ts'
import { vercelModels } from './support/vercel.ts'

const { said } = scenarios.reasoning
const setup = { type: 14 }
const fake = fakeOf('anthropic', 'anthropic-messages')

let rig: Rig
beforeAll(async () => {
  rig = await startMatrixRig(['o1-pro'])
})
afterAll(() => rig[Symbol.asyncDispose]())

/** Makes one call and returns the items of its answer. */
async function firstAnswer(openai: OpenAI, stream: boolean, more: { store?: boolean } = {}) {
  rig.answer(says(fake, said))
  const body = { model, input: scenarios.plain.asked.text, ...more }
  const answer = stream
    ? await openai.responses.stream(body).finalResponse()
    : await openai.responses.create({ ...body, stream: false })
  return answer.output
}

/** Makes the next call, with references in place of the items. */
async function askOn(openai: OpenAI, ids: readonly string[]): Promise<string> {
  const references = ids.map((id) => ({ type: 'item_reference' as const, id }))
  const first = { role: 'user' as const, content: scenarios.plain.asked.text }
  await openai.responses.create({ model, input: [first, ...references, { role: 'user', content: 'Sure?' }] })
  return Buffer.from(rig.upstream.last.body).toString()
}

describe('an item of an earlier answer, referenced by its id,', () => {
  for (const stream of [false, true]) {
    test(`is available to the next call, after ${stream ? 'a stream' : 'a whole answer'}`, async () => {
      const { openai } = await rig.through(setup)
      const items = await firstAnswer(openai, stream)
      const asked = await askOn(
        openai,
        items.map(({ id = '' }) => id),
      )
      expect(asked).toContain(said.text)
      expect(asked).toContain(said.thought)
    })
  }

  test('is inserted even if the next request is sent to a service of the Responses API', async () => {
    const { openai } = await rig.through(setup)
    const items = await firstAnswer(openai, false)
    const id = await rig.gateway.addChannel({
      type: 1,
      base_url: rig.upstream.url,
      models: model,
      model_mapping: JSON.stringify({ [model]: 'o1-pro' }),
    })
    rig.answer(says(fakeOf('openai', 'openai-responses'), said))
    const baseURL = `${rig.gateway.url}/v1`
    const other = new OpenAI({ apiKey: `${rig.gateway.token}-${id}`, baseURL, maxRetries: 0 })
    expect(
      await askOn(
        other,
        items.map((item) => item.id ?? ''),
      ),
    ).toContain(said.text)
  })

  test('is refused with an explanation if it is unknown, and is dropped if it is only reasoning', async () => {
    const { openai } = await rig.through(setup)
    rig.answer(says(fake, said))
    const sent = rig.upstream.requests.length
    const failure = await askOn(openai, ['msg_unknown']).then(() => undefined, failureIn)
    expect(failure).toMatchObject({ status: 400, message: expect.stringContaining('send the items themselves') })
    expect(rig.upstream.requests.length).toBe(sent)
    expect(await askOn(openai, ['rs_unknown'])).toContain('Sure?')
  })

  test('is not stored if the caller forbids that, and is not available to other tokens', async () => {
    const { openai } = await rig.through(setup)
    const [, forbidden] = await firstAnswer(openai, true, { store: false })
    const failure = await askOn(openai, [forbidden?.id ?? '']).then(() => undefined, failureIn)
    expect(failure?.status).toBe(400)
    const [, kept] = await firstAnswer(openai, true)
    const stranger = await rig.gateway.addCaller({ user: 1_000_000, token: 1_000_000 })
    const other = new OpenAI({ apiKey: stranger.token, baseURL: `${rig.gateway.url}/v1`, maxRetries: 0 })
    // With this priority, the channel is used instead of the channels of other tests. One of those calls a service that
    // stores items itself and would accept the id.
    await rig.gateway.addChannel({ type: 14, base_url: rig.upstream.url, models: model, priority: 10 })
    expect((await askOn(other, [kept?.id ?? '']).then(() => undefined, failureIn))?.status).toBe(400)
  })

  test('cannot be used to multiply content: many references to a long item are refused as too large', async () => {
    const { openai } = await rig.through(setup)
    const text = 'word '.repeat(400_000)
    rig.answer(says(fake, { ...said, text }))
    const answer = await openai.responses.create({ model, input: scenarios.plain.asked.text })
    const id = answer.output.find(({ type }) => type === 'message')?.id ?? ''
    const sent = rig.upstream.requests.length
    const failure = await askOn(openai, Array(10).fill(id)).then(() => undefined, failureIn)
    expect(failure).toMatchObject({ status: 413, message: expect.stringContaining('too large in total') })
    expect(rig.upstream.requests.length).toBe(sent)
    expect(await askOn(openai, [id, id])).toContain(text)
  })

  test("is what the AI SDK sends in place of the assistant's text", async () => {
    const vercel = vercelModels(rig.gateway.url, await rig.token(setup), model)['openai-responses']
    rig.answer(says(fake, said))
    const messages: ModelMessage[] = [{ role: 'user', content: scenarios.plain.asked.text }]
    const first = await generateText({ model: vercel, messages })
    messages.push(...first.responseMessages, { role: 'user', content: 'Sure?' })
    await generateText({ model: vercel, messages })
    expect(Buffer.from(rig.upstream.last.body).toString()).toContain(said.text)
  })
})

test('items are stored for an hour, and the oldest are removed when there are too many', () => {
  let nowMs = 0
  const clock: Pick<Clock, 'nowMs'> = { nowMs: () => nowMs }
  const kept = createItemStore(clock.nowMs)
  kept.keep(1, [{ id: 'a', text: 'first' }])
  expect(kept.find(1, 'a')).toBe('{"id":"a","text":"first"}')
  expect(kept.find(2, 'a')).toBeUndefined()
  nowMs = 3_600_000
  expect(kept.find(1, 'a')).toBeUndefined()
  const long = 'x'.repeat(5_000_000)
  for (const id of ['b', 'c', 'd', 'e']) kept.keep(1, [{ id, text: long }])
  expect(['a', 'b', 'c', 'e'].map((id) => kept.find(1, id) !== undefined)).toEqual([false, false, true, true])
})
