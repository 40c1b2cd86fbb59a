// Requests that the gateway itself makes to a service have a time limit.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import * as fake from '../helpers/fake-upstream.ts'
import { chat, type Rig, see, startRelayRig, until } from './setup.ts'

let rig: Rig
/** How far the gateway's clock is ahead of the real time. */
let aheadMs = 0

beforeAll(async () => {
  rig = await startRelayRig({ channels: false, clock: { nowMs: () => Date.now() + aheadMs } })
  await rig.channel({ type: 14 })
})
afterAll(() => rig[Symbol.asyncDispose]())

const json: readonly (readonly [string, string])[] = [['content-type', 'application/json']]

describe('if a token count does not arrive completely, the gateway counts the tokens itself:', () => {
  /** The number of tokens that the gateway counts for `chat` in Anthropic's dialect. */
  const ownCount = { input_tokens: 11 }
  const count = async () => {
    const { token } = await rig.caller()
    return see(rig.gateway.post('/v1/messages/count_tokens', chat, token))
  }

  test.each([
    ['broken', '{"input_tokens": 4', true],
    ['too long', `{"input_tokens": 42, "more": "${'x'.repeat(100_000)}"}`, false],
  ])('%s', async (_, text, isBroken) => {
    rig.upstream.next(
      fake.behaviour('count', async (exchange) => {
        exchange.head(200, json)
        await exchange.write(text)
        if (isBroken) exchange.fin()
        else exchange.end()
      }),
    )
    expect(JSON.parse((await count()).text)).toEqual(ownCount)
  })

  test('a count that begins and never ends', async () => {
    rig.upstream.next(
      fake.behaviour('begins', async (exchange) => {
        exchange.head(200, json)
        await exchange.write('{"input_tokens": 4')
        exchange.hang()
      }),
    )
    const before = rig.upstream.requests.length
    let text: string | undefined
    void count().then((seen) => {
      text = seen.text
    })
    await rig.upstream.received(before + 1)
    await until(() => {
      aheadMs += 1_000
      return text !== undefined
    })
    expect(JSON.parse(text ?? '')).toEqual(ownCount)
    await rig.upstream.until(({ openStreams }) => openStreams === 0)
  })
})
