// One request must not block all others. These requests have so many parts that they would take minutes if every part
// were compared with every other.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import * as fake from '../helpers/fake-upstream.ts'
import { type Rig, see, startRelayRig } from './setup.ts'

let rig: Rig

beforeAll(async () => {
  rig = await startRelayRig({ channels: false })
  await rig.gateway.setOption('ModelRatio', '{"openai":1,"google":1,"ollama":1}')
  await rig.channel({ models: 'openai' })
  await rig.channel({ type: 24, models: 'google' })
  await rig.channel({ type: 30, models: 'ollama' })
})
afterAll(() => rig[Symbol.asyncDispose]())

const times = <Item>(count: number, make: (index: number) => Item) => Array.from({ length: count }, (_, at) => make(at))

const said = (content: unknown) => [{ role: 'user', content }]
const inGoogle = (model: string) => `/v1beta/models/${model}:generateContent`
const chat = '/v1/chat/completions'

const requests: [name: string, path: string, body: () => object | string][] = [
  [
    'a URL with many file extensions',
    chat,
    () => ({
      model: 'google',
      messages: said([{ type: 'video_url', video_url: { url: `https://example.com/${'.a?'.repeat(400_000)}\n` } }]),
    }),
  ],
  [
    'a media type with many semicolons',
    inGoogle('openai'),
    () => ({
      contents: [{ parts: [{ inlineData: { mimeType: `audio/${';'.repeat(1_000_000)}\nx`, data: 'AAAA' } }] }],
    }),
  ],
  [
    'many tools and a long list of allowed tools',
    chat,
    () => {
      const tools = times(4_000, (index) => ({ type: 'function', function: { name: `f${index}` } }))
      const allowed_tools = { mode: 'auto', tools: tools.toReversed() }
      return { model: 'ollama', messages: said('Hi'), tools, tool_choice: { type: 'allowed_tools', allowed_tools } }
    },
  ],
  [
    'many calls whose results arrive in another order',
    inGoogle('google'),
    () => {
      const call = (index: number) => ({ functionCall: { id: `id${index}`, name: 'f' } })
      const result = (index: number) => ({ functionResponse: { id: `id${index}`, name: 'f', response: {} } })
      const results = times(15_000, result).toReversed()
      return {
        contents: [
          { role: 'model', parts: times(15_000, call) },
          { role: 'user', parts: results },
        ],
      }
    },
  ],
]

describe('a very long request is passed on quickly:', () => {
  test.each(requests)('%s', async (_, path, body) => {
    const caller = await rig.caller({ user: 100_000_000, token: 100_000_000 })
    rig.upstream.next(fake.status(400))
    const before = rig.upstream.requests.length
    await see(rig.gateway.post(path, body(), caller.token))
    expect(rig.upstream.requests.length).toBe(before + 1)
  })
})

test('a very long request with a name in both spellings is refused quickly', async () => {
  const caller = await rig.caller()
  const fields = Object.fromEntries(times(4_000, (index) => [`k${index}`, 0]))
  const body = { ...fields, some_field: 0, someField: 0 }
  const seen = await see(rig.gateway.post(inGoogle('google'), body, caller.token))
  expect([seen.status, seen.error?.message]).toEqual([400, expect.stringContaining('someField appears twice')])
})
