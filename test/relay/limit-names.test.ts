// The limit for the length of an answer is sent under the field name that the model accepts.
import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import type { JsonObject } from '../../server/lib/json.ts'
import { okChat } from '../helpers/fake-upstream.ts'
import { type Rig, startRelayRig } from './setup.ts'

const models = ['gpt-5.2', 'o3-mini', 'gpt-4o']
let rig: Rig

beforeAll(async () => {
  const ratios = JSON.stringify(Object.fromEntries(models.map((model) => [model, 1])))
  rig = await startRelayRig({ channels: false, settings: { ModelRatio: ratios, CompletionRatio: ratios } })
})
afterAll(() => rig[Symbol.asyncDispose]())
beforeEach(async () => {
  await rig.clear({ RetryTimes: '0' })
  rig.upstream.always(okChat({ text: 'Hi', ignoreMaxTokens: true }))
})

/** The limit fields of the request that the service received, and the dropped fields listed in the response header. */
async function asked(fields: object): Promise<JsonObject> {
  const messages = [{ role: 'user', content: 'Hi' }]
  const answer = await rig.gateway.post('/v1/chat/completions', { messages, ...fields })
  expect(answer.status).toBe(200)
  const { max_tokens, max_completion_tokens } = rig.upstream.last.fields as JsonObject
  const sent = { max_tokens, max_completion_tokens, named: answer.headers.get('x-tollgate-dropped') }
  return JSON.parse(JSON.stringify(sent)) as JsonObject
}

test.each([1, 3])(
  'OpenAI’s reasoning models get the newer field name, and the response lists the older name as dropped: type %i',
  async (type) => {
    await rig.channel({ type, models: models.join(','), other: '2024-10-21' })
    for (const model of ['gpt-5.2', 'o3-mini'])
      expect(await asked({ model, max_tokens: 50 })).toEqual({ max_completion_tokens: 50, named: 'max_tokens' })
    expect(await asked({ model: 'gpt-5.2', max_completion_tokens: 40 })).toEqual({
      max_completion_tokens: 40,
      named: null,
    })
    expect(await asked({ model: 'gpt-5.2' })).toEqual({ named: null })
    expect(await asked({ model: 'gpt-4o', max_tokens: 50 })).toEqual({ max_tokens: 50, named: null })
  },
)

test('the model name that is sent to the service decides which field name is used', async () => {
  await rig.channel({ models: 'gpt-4o', model_mapping: '{"gpt-4o":"gpt-5.2"}' })
  expect(await asked({ model: 'gpt-4o', max_tokens: 50 })).toEqual({ max_completion_tokens: 50, named: 'max_tokens' })
})

test('under strict translation, the newer field name is accepted as the same limit', async () => {
  await rig.channel({ models: models.join(',') })
  await rig.gateway.setOption('StrictTranslationEnabled', 'true')
  expect(await asked({ model: 'gpt-5.2', max_tokens: 50 })).toMatchObject({ max_completion_tokens: 50 })
  await rig.gateway.setOption('StrictTranslationEnabled', 'false')
})

test('other services get the field name that the caller used', async () => {
  await rig.channel({ type: 8, models: models.join(',') })
  expect(await asked({ model: 'gpt-5.2', max_tokens: 50 })).toEqual({ max_tokens: 50, named: null })
})
