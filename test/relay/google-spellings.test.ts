// Google accepts each name in camelCase and in snake_case. If a request contains a field in both spellings, the gateway
// cannot know which one Google will use.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import * as fake from '../helpers/fake-upstream.ts'
import { charged, type Rig, see, startRelayRig } from './setup.ts'

let rig: Rig

beforeAll(async () => {
  rig = await startRelayRig({ channels: false })
  await rig.channel({ type: 24 })
})
afterAll(() => rig[Symbol.asyncDispose]())

const path = '/v1beta/models/m:generateContent'
const contents = [{ role: 'user', parts: [{ text: 'Hi' }] }]
const few = { maxOutputTokens: 100 }
const many = { maxOutputTokens: 60_000 }

describe('a request is refused and costs nothing if it has', () => {
  test.each<[string, string, object]>([
    ['a limit', 'generationConfig.maxOutputTokens', { generationConfig: { max_output_tokens: 100, ...many } }],
    [
      'a limit in snake-case settings',
      'generationConfig.maxOutputTokens',
      { generation_config: { ...many, max_output_tokens: 1 } },
    ],
    ['settings', 'generationConfig', { generation_config: many, generationConfig: few }],
    [
      'the number of responses',
      'generationConfig.candidateCount',
      { generationConfig: { candidateCount: 1, candidate_count: 8 } },
    ],
    ['instructions', 'systemInstruction', { system_instruction: { parts: [] }, systemInstruction: { parts: [] } }],
    ['a stored prompt', 'cachedContent', { cached_content: 'cachedContents/1', cachedContent: '' }],
  ])('%s in both spellings', async (_, place, fields) => {
    await isRefused(fields, `${place} appears twice in the request, in two spellings`)
  })

  test.each<[string, object]>([
    ['GenerationConfig must be written generationConfig', { GenerationConfig: many, generationConfig: few }],
    [
      'generationConfig.MaxOutputTokens must be written maxOutputTokens',
      { generationConfig: { MaxOutputTokens: 9, ...few } },
    ],
  ])('other letter case: %s', isRefusedFor)
})

const isRefusedFor = (words: string, fields: object) => isRefused(fields, words)

async function isRefused(fields: object, words: string): Promise<void> {
  const caller = await rig.caller({ user: 500, token: 500 })
  const before = rig.upstream.requests.length
  const seen = await see(rig.gateway.post(path, { contents, ...fields }, caller.token))
  expect([seen.status, seen.error?.message]).toEqual([400, expect.stringContaining(words)])
  expect(rig.upstream.requests.length).toBe(before)
  await charged(rig, caller, 0, 500)
}

test.each<[string, string, object]>([
  ['generationConfig', 'maxOutputTokens', { generationConfig: many }],
  ['generation_config', 'max_output_tokens', { generation_config: { max_output_tokens: 60_000 } }],
  ['generationConfig', 'max_output_tokens', { generationConfig: { max_output_tokens: 60_000 } }],
  ['generation_Config', 'max_outputTokens', { generation_Config: { max_outputTokens: 60_000 } }],
])('a limit in either spelling is lowered to what the balance covers: %s.%s', async (config, limit, fields) => {
  const caller = await rig.caller({ user: 500, token: 500 })
  rig.upstream.next(fake.status(400))
  const before = rig.upstream.requests.length
  await see(rig.gateway.post(path, { contents, ...fields }, caller.token))
  expect(rig.upstream.requests.length).toBe(before + 1)
  const sent = rig.upstream.last.json as Record<string, Record<string, number>>
  expect(Object.keys(sent)).toEqual(['contents', config])
  expect(Object.keys(sent[config] ?? {})).toEqual([limit])
  expect(sent[config]?.[limit]).toBeWithin(400, 501)
})
