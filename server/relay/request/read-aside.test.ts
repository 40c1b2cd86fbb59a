import { afterAll, expect, test } from 'bun:test'
import { callerDialects } from '../../dialects/caller-dialects.ts'
import { factsOf } from '../../dialects/neutral/facts.ts'
import { needsOf } from '../../dialects/neutral/needs.ts'
import type { JsonObject } from '../../lib/json.ts'
import type { JsonBody } from '../body/json-body.ts'
import { callRouteOf } from '../call/call-routes.ts'
import { addressOf } from '../call/known-request.ts'
import { quickEstimate } from '../counting/quick-estimate.ts'
import { namesAddresses } from './inline-media.ts'
import { createAsideReader, readAside } from './read-aside.ts'

const reader = createAsideReader()
afterAll(() => reader.close())

const times = <Item>(count: number, make: (index: number) => Item) => Array.from({ length: count }, (_, at) => make(at))
const text = (index: number) => `word 言葉 🚀 ${index}`

const requests: [path: string, json: JsonObject][] = [
  [
    '/v1/messages',
    {
      model: 'm',
      max_tokens: 50,
      stream: true,
      system: 'Be brief.',
      thinking: { type: 'enabled', budget_tokens: 1024 },
      tools: [{ name: 'read', input_schema: { type: 'object' } }],
      messages: times(3_000, (index) => ({ role: index % 2 ? 'assistant' : 'user', content: text(index) })),
    },
  ],
  [
    '/v1/messages',
    {
      model: 'm',
      max_tokens: 50,
      messages: [
        { role: 'user', content: times(2_500, (index) => ({ type: 'text', text: text(index) })) },
        { role: 'user', content: [{ type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } }] },
      ],
    },
  ],
  ['/v1/messages/count_tokens', { model: 'm', messages: times(2_500, () => ({ role: 'user', content: 'x' })) }],
  ['/v1/responses', { model: 'm', input: times(2_500, (index) => ({ role: 'user', content: text(index) })) }],
  [
    '/v1beta/models/a%20model:streamGenerateContent',
    { contents: times(2_500, (index) => ({ role: index % 2 ? 'model' : 'user', parts: [{ text: text(index) }] })) },
  ],
]

function routed(path: string) {
  const route = callRouteOf(`http://gateway${path}`)
  if (!route || route.dialect === 'openai-chat') throw new Error(`${path} is no conversation of another dialect`)
  return { ...route, dialect: route.dialect }
}

const bodyOf = (json: JsonObject, containers: number): JsonBody => ({
  kind: 'json',
  text: JSON.stringify(json),
  json,
  containers,
})

test.each(requests)(
  'a %s request gives the same result when it is read in the worker as when it is read on the main thread',
  async (path, json) => {
    const route = routed(path)
    const known = await readAside(reader, bodyOf(json, 2_500), route)
    const conversation = callerDialects[route.dialect].decodeRequest(json, addressOf(route))
    const facts = factsOf(conversation)
    expect(known).toMatchObject({ promptGuess: quickEstimate(facts.prompt), namesFiles: namesAddresses(conversation) })
    expect(known?.needs).toEqual(needsOf(conversation))
    expect({ ...known?.facts, prompt: { ...known?.facts.prompt } }).toEqual(facts as never)
  },
)

test.each<[path: string, json: JsonObject, param: string]>([
  ['/v1/messages', { model: 'm', max_tokens: 5, messages: [{ role: 'nobody', content: 'x' }] }, 'messages[0].role'],
  ['/v1/messages', { model: 'm', messages: [{ role: 'user', content: 'x' }] }, 'max_tokens'],
  ['/v1/responses', { model: 'm', input: [{ role: 'user', content: 7 }] }, 'input[0].content'],
])('a faulty %s request is refused with the same error on both threads', async (path, json, param) => {
  const route = routed(path)
  const refusal = (work: () => unknown) =>
    Promise.resolve()
      .then(work)
      .catch((error: unknown) => error as Error)
  const aside = await refusal(() => readAside(reader, bodyOf(json, 2_500), route))
  const here = await refusal(() => factsOf(callerDialects[route.dialect].decodeRequest(json, addressOf(route))))
  expect(aside).toMatchObject({ param })
  expect(aside).toEqual(here as never)
})

test('an error in one request does not affect another', async () => {
  const route = routed('/v1/messages')
  const good: JsonObject = { model: 'm', max_tokens: 5, messages: [{ role: 'user', content: 'x' }] }
  const broken = reader.read({ text: 'no JSON', dialect: route.dialect, address: {} })
  const sound = readAside(reader, bodyOf(good, 2_500), route)
  await expect(broken).rejects.toThrow('a request could not be read')
  expect((await sound)?.facts.model).toBe('m')
})

test('requests with few parts, chat requests and other kinds are read on the main thread', () => {
  const json = { model: 'm', messages: [] }
  expect(readAside(reader, bodyOf(json, 100), routed('/v1/messages'))).toBeUndefined()
  for (const path of ['/v1/chat/completions', '/v1/embeddings']) {
    const route = callRouteOf(`http://gateway${path}`)
    if (route) expect(readAside(reader, bodyOf(json, 2_500), route)).toBeUndefined()
  }
})
