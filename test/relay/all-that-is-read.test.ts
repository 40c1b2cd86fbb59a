// The hold covers all text of a request that a model may read. If an upstream's token count includes such text, the
// count is charged.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { sendJson } from '../helpers/fake-upstream/reply.ts'
import * as fake from '../helpers/fake-upstream.ts'
import { charged, chargedUnits, chat, type Rig, see, startRelayRig, whileHeld } from './setup.ts'

let rig: Rig

beforeAll(async () => {
  rig = await startRelayRig()
})
afterAll(() => rig[Symbol.asyncDispose]())

const paths = {
  chat: '/v1/chat/completions',
  completions: '/v1/completions',
  embeddings: '/v1/embeddings',
  rerank: '/v1/rerank',
}
const tokens = 60_000
/** Each word is one token. */
const long = ' word'.repeat(tokens)
const said = (fields: object) => ({
  ...chat,
  max_tokens: 100,
  messages: [{ role: 'user', content: 'Hi' }, { role: 'assistant', content: 'Hello.', ...fields }, ...chat.messages],
})
const part = (fields: object) => said({ content: [{ type: 'text', text: 'Hello.' }, fields] })
const beside = (fields: object) => ({ ...chat, max_tokens: 100, ...fields })

const texts: [where: string, mode: keyof typeof paths, body: object][] = [
  ['suffix', 'completions', { model: 'm', max_tokens: 100, prompt: 'Hi', suffix: long }],
  ['reasoning', 'chat', said({ reasoning: long })],
  ['reasoning as an object', 'chat', said({ reasoning: { content: long } })],
  ['a text in reasoning_details', 'chat', said({ reasoning_details: [{ type: 'reasoning.text', text: long }] })],
  [
    'a summary in reasoning_details',
    'chat',
    said({ reasoning_details: [{ type: 'reasoning.summary', summary: long }] }),
  ],
  [
    'long reasoning_details beside short reasoning',
    'chat',
    said({ reasoning: 'Hm.', reasoning_details: [{ text: long }] }),
  ],
  ['a thought among the content parts', 'chat', part({ type: 'thinking', thinking: [{ type: 'text', text: long }] })],
  ['a thought as a string among the content parts', 'chat', part({ type: 'thinking', thinking: long })],
  ['a refusal among the content parts', 'chat', part({ type: 'refusal', refusal: long })],
  ['a predicted answer', 'chat', beside({ prediction: { type: 'content', content: long } })],
  ['documents', 'chat', beside({ documents: [{ title: 'A', text: long }] })],
  ['the instruction of an embedding', 'embeddings', { model: 'm', input: 'Hi', instruction: long }],
]

/** Text in fields that the gateway does not know. For these, the hold covers only an estimate by their size. */
const unknown: [where: string, mode: keyof typeof paths, body: object][] = [
  ['a message', 'chat', said({ inner_voice: long })],
  ['a part', 'chat', part({ type: 'tool_result', content: long })],
  ['the request', 'chat', beside({ chat_template: long })],
  ['a completion', 'completions', { model: 'm', max_tokens: 100, prompt: 'Hi', context: long }],
  ['an encrypted thought', 'chat', said({ reasoning_details: [{ type: 'reasoning.encrypted', data: long }] })],
  ['a document to be ranked', 'rerank', { model: 'm', query: 'Hi', documents: [{ text: 'Hi', title: long }] }],
]

/** Checks that the token count reported by the upstream, which is correct, is charged. */
async function isBelieved(mode: keyof typeof paths, body: object): Promise<void> {
  const caller = await rig.caller()
  const completionTokens = mode === 'chat' || mode === 'completions' ? 5 : 0
  const usage = { prompt_tokens: tokens, completion_tokens: completionTokens, total_tokens: tokens + completionTokens }
  const scored = { results: [{ index: 0, relevance_score: 1 }] }
  const answer = { object: 'list', data: [{ object: 'embedding', index: 0, embedding: [1] }], ...scored, usage }
  rig.upstream.next(
    completionTokens > 0 ? fake.ok({ usage }) : fake.behaviour('counts', (exchange) => sendJson(exchange, 200, answer)),
  )
  const seen = await see(rig.gateway.post(paths[mode], body, caller.token))
  expect([seen.status, seen.error]).toEqual([200, undefined])
  const [row] = await charged(rig, caller, tokens + completionTokens)
  expect(row).toMatchObject({ estimated: 0, prompt_tokens: tokens })
}

const heldFor = async (mode: keyof typeof paths, body: object) =>
  whileHeld(rig, await rig.caller(), paths[mode], body, (amount) => amount)

describe('the hold covers text that upstreams count:', () => {
  test.each(texts)('%s', async (_, mode, body) => {
    expect(await heldFor(mode, body)).toBeWithin(tokens, 2 * tokens)
    await isBelieved(mode, body)
  })
})

describe('for long text in an unknown field, the upstream’s token count is charged, and the hold covers a part of it:', () => {
  test.each(unknown)('%s', async (_, mode, body) => {
    expect(await heldFor(mode, body)).toBeWithin(tokens / 2, tokens)
    await isBelieved(mode, body)
  })
})

test('media are counted as media whatever the name of their field is, and a field without media is not, even if it has a similar name', async () => {
  const image = 765
  const plain = await heldFor('chat', said({}))
  const data = 'A'.repeat(1_000_000)
  const source = { type: 'base64', media_type: 'image/png', data }
  for (const fields of [
    part({ type: 'tool_result', content: [{ type: 'image', source }] }),
    part({ inline_data: { mime_type: 'image/png', data } }),
    part({ type: 'thing', mime_type: 'image/png', data }),
    part({ type: 'thing', shown: { url: `data:image/png;base64,${data}` } }),
    said({ audio: { id: 'audio_1' } }),
  ])
    expect((await heldFor('chat', fields)) - plain).toBeWithin(image, image + 30)
  const names = { filename: 'a.png', file_id: '17', has_image: false, document_title: '', profile: 'plain' }
  expect(await heldFor('chat', part(names))).toBeLessThan(plain + 30)
  const documents = Array.from({ length: 100 }, () => ({ text: 'Hi', document_id: '17', image: 'a.png' }))
  expect(await heldFor('rerank', { model: 'm', query: 'Hi', documents })).toBeLessThan(1000)
})

test('reasoning text that is sent in several fields is counted once', async () => {
  const details = [{ type: 'reasoning.text', text: 'I think of it.', signature: 'c2VhbGVk', format: 'unknown' }]
  const thoughts = [{ reasoning_content: 'I think of it.' }, { reasoning_details: details }]
  const own: number[] = []
  for (const fields of [...thoughts, { ...thoughts[0], ...thoughts[1], reasoning: 'I think of it.' }]) {
    const caller = await rig.caller()
    rig.upstream.next(fake.ok({ usage: null, text: 'Yes' }))
    await see(rig.gateway.post(paths.chat, said(fields), caller.token))
    own.push((await chargedUnits(rig, caller)).units)
  }
  expect(own).toEqual([own[0] ?? 0, own[0] ?? 0, own[0] ?? 0])
})

test('ids and cache markers cost nothing', async () => {
  const plain = await heldFor('chat', said({}))
  const marks = { id: 'msg_1', tool_call_id: 'call_1', prefix: true, annotations: [], extra_content: { google: {} } }
  expect(await heldFor('chat', { ...said(marks), user: 'u', metadata: { a: 'b' }, audio: { voice: 'a' } })).toBe(plain)
})
