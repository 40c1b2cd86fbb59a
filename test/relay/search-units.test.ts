// Ranking that is priced per search: the hold depends on the documents, and the charge on what the answer reports.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { sendJson } from '../helpers/fake-upstream/reply.ts'
import * as fake from '../helpers/fake-upstream.ts'
import { charged, type Rig, see, startRelayRig, whileHeld } from './setup.ts'

const model = 'rerank-v3.5'
/** The quota that one search unit costs at $0.002. */
const unit = 1_000
const path = '/v1/rerank'
let rig: Rig

beforeAll(async () => {
  rig = await startRelayRig({ channels: false })
  await rig.channel({ type: 35, models: model })
  await rig.channel({ type: 33, models: 'amazon.rerank-v1:0', key: 'AKID|secret|us-east-1' })
})
afterAll(() => rig[Symbol.asyncDispose]())

/** The quick estimate counts `tokens` tokens for each of these texts, at three characters per token. */
const documents = (count: number, tokens = 1) => Array.from({ length: count }, () => 'abc'.repeat(tokens))

const body = (texts: readonly unknown[], query = 'q') => ({ model, query, documents: texts })

/** Makes a call whose answer contains the fields of `beside`, and checks that `units` units are charged. */
async function ranked(asked: object, beside: object, units: number) {
  const caller = await rig.caller()
  rig.upstream.next(
    fake.behaviour('ranks', (exchange) =>
      sendJson(exchange, 200, { results: [{ index: 0, relevance_score: 0.5 }], ...beside }),
    ),
  )
  const seen = await see(rig.gateway.post(path, asked, caller.token))
  expect(seen.status).toBe(200)
  const [row] = await charged(rig, caller, units)
  return { answer: JSON.parse(seen.text) as object, row }
}

const told = (units: unknown) => ({ meta: { billed_units: { search_units: units } } })

describe('the documents determine the hold, and the charge if the answer reports no units:', () => {
  const cases: [name: string, asked: object, units: number][] = [
    ['one unit for one document', body(documents(1)), 1],
    ['one unit for a hundred documents', body(documents(100)), 1],
    ['two units for a hundred and one documents', body(documents(101)), 2],
    ['ten units for a thousand documents', body(documents(1000)), 10],
    ['a long document counts once for each chunk, and each chunk includes the query', body(documents(12, 499 * 9)), 2],
    ['a document counts only up to the 4,096 tokens that are read', body(documents(11, 499 * 101)), 1],
    [
      'a document counts for more if the call sets a higher limit',
      { ...body(documents(1, 499 * 101)), max_tokens_per_doc: 100_000 },
      2,
    ],
    ['an object with an empty text also counts as a document', body([...documents(100), { text: '' }]), 2],
    ['a long query takes up at most half of a chunk', body(documents(100, 251), 'abc'.repeat(1000)), 2],
    ['only the text of a document counts', body([...documents(99), { text: 'Hi', more: 'abc'.repeat(499 * 9) }]), 1],
  ]
  test.each(cases)('%s', async (_, asked, units) => {
    const holding = await rig.caller()
    expect(await whileHeld(rig, holding, path, asked, (held) => held)).toBe(units * unit)
    const { row } = await ranked(asked, {}, units * unit)
    expect(row).toMatchObject({ estimated: 1 })
  })
})

test('the units reported by the answer are charged and passed on', async () => {
  // By the estimate, each document has two chunks. By its number of bytes, it has at most four.
  const asked = body(documents(100, 600))
  const { answer, row } = await ranked(asked, told(1), unit)
  expect(answer).toMatchObject(told(1))
  expect(row).toMatchObject({ estimated: 0 })
  await ranked(asked, told(3), 3 * unit)
})

test('reported units are charged even if they exceed the estimate, if other fields or texts with many tokens can explain this', async () => {
  const hidden = { ...body([{ text: 'Hi', body: 'abc'.repeat(499 * 150) }]), rank_fields: ['body'] }
  const { row } = await ranked(hidden, told(2), 2 * unit)
  expect(row).toMatchObject({ estimated: 0 })
  await ranked(body(documents(1, 499 * 150)), told(2), 2 * unit)
})

describe('if the reported units are invalid or more than the documents can account for, the estimate is charged:', () => {
  const wrong: [units: unknown][] = [[0], [-1], [2.5], ['2'], [null], [3], [1e9]]
  test.each(wrong)('%p for 101 short documents', async (units) => {
    const { row } = await ranked(body(documents(101)), told(units), 2 * unit)
    expect(row).toMatchObject({ estimated: 1 })
  })
})

test('rerank models on Bedrock are charged in the same way', async () => {
  const asked = { ...body(documents(250)), model: 'amazon.rerank-v1:0' }
  await ranked(asked, {}, 3 * 500)
  await ranked({ ...asked, documents: documents(250, 300) }, told(4), 4 * 500)
})

describe('a price option for a model that is priced per search', () => {
  test('ModelPrice sets the price per search unit', async () => {
    await rig.gateway.setOption('ModelPrice', `{"${model}":0.01}`)
    await ranked(body(documents(101)), {}, 2 * 5_000)
    await rig.gateway.setOption('ModelPrice', '{}')
  })

  test('ModelRatio sets the price per token instead', async () => {
    await rig.gateway.setOption('ModelRatio', `{"${model}":1}`)
    await ranked(body(documents(101)), told(2), 102)
    await rig.gateway.setOption('ModelRatio', '{}')
  })
})

test('the number of documents does not change the price of a model that is priced per call or per token', async () => {
  await rig.gateway.setOption('ModelPrice', '{"my-ranks":0.01}')
  await rig.gateway.setOption('ModelRatio', '{"other-ranks":1}')
  await rig.channel({ models: 'my-ranks,other-ranks' })
  await ranked({ ...body(documents(101)), model: 'my-ranks' }, {}, 5_000)
  await ranked({ ...body(documents(101)), model: 'other-ranks' }, { usage: { total_tokens: 300 } }, 300)
})
