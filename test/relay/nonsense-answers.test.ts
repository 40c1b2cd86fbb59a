// Upstreams put anything where a word or a text belongs; that is their failure, never the gateway's.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { behaviour } from '../helpers/fake-upstream.ts'
import { type Bench, charged, chat, chatStream, expectError, see, startBench } from './setup.ts'

let bench: Bench
beforeAll(async () => {
  bench = await startBench()
})
afterAll(() => bench[Symbol.asyncDispose]())

const noText = '{"toString":1,"valueOf":2}'
const nested = `${'['.repeat(100_000)}${']'.repeat(100_000)}`

/** An upstream that answers with exactly this. */
const says = (status: number, text: string, type = 'application/json') =>
  behaviour('nonsense', async (exchange) => {
    exchange.head(status, [['content-type', type]])
    await exchange.write(text)
    exchange.end()
  })

const cases: readonly (readonly [name: string, status: number, body: string, seenStatus: number, code: unknown])[] = [
  [
    'an error whose code and type are objects',
    400,
    `{"error":{"message":"no","type":${noText},"code":${noText}}}`,
    400,
    { toString: 1, valueOf: 2 },
  ],
  [
    'an error with status 200 whose code is an object',
    200,
    `{"error":{"message":"no","code":${noText}}}`,
    502,
    { toString: 1, valueOf: 2 },
  ],
  ['an error nested 100,000 deep', 200, `{"error":{"message":"no","code":${nested}}}`, 502, 'bad_response_body'],
  [
    'an answer nested 100,000 deep',
    200,
    `{"choices":[{"message":{"content":{"x":${nested}}}}]}`,
    502,
    'bad_response_body',
  ],
]

for (const [name, status, body, seenStatus, code] of cases) {
  test(`${name}: ${seenStatus}, nothing charged`, async () => {
    const caller = await bench.caller()
    bench.upstream.next(says(status, body))
    const seen = await see(bench.gateway.post('/v1/chat/completions', chat, caller.token))
    expect([seen.status, seen.error?.code]).toEqual([seenStatus, code as never])
    await charged(bench, caller, 0)
  })
}

test('an error event that is a list nested 100,000 deep: 502, nothing charged', async () => {
  const caller = await bench.caller()
  bench.upstream.next(says(200, `data: {"error":${nested}}\n\n`, 'text/event-stream'))
  const seen = await see(bench.gateway.post('/v1/chat/completions', chatStream, caller.token))
  expectError(seen, 502, null)
  await charged(bench, caller, 0)
})
