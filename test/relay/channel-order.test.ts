// An option decides the order of channels with the same priority. A group can have its own order.
import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import * as fake from '../helpers/fake-upstream.ts'
import { chat, chatStream, type Rig, see, startRelayRig } from './setup.ts'

let rig: Rig
/** How far the gateway's clock is ahead of the real time. */
let aheadMs = 0

beforeAll(async () => {
  rig = await startRelayRig({ channels: false, clock: { nowMs: () => Date.now() + aheadMs } })
})
beforeEach(() => rig.clear({ ChannelOrder: 'weight', GroupChannelOrder: '{}', ChannelAffinity: 'off' }))
afterAll(() => rig[Symbol.asyncDispose]())

/** A fake upstream that moves the gateway's clock forward by `ms` and then responds. */
const slowly = (ms: number, then: fake.Behaviour) =>
  fake.behaviour('slow', async (exchange) => {
    aheadMs += ms
    await then.run(exchange)
  })

const keys = () => rig.upstream.requests.map((request) => request.key)

async function calls(count: number, body: object = chat, token?: string) {
  for (let index = 0; index < count; index++)
    expect((await see(rig.gateway.post('/v1/chat/completions', body, token))).status).toBe(200)
}

test.each([
  ['streams', chatStream, () => fake.okStream()],
  ['complete responses', chat, () => fake.okChat()],
])('in the order of latency, %s come from the fastest channel, rarely from a random one', async (_, body, then) => {
  await rig.gateway.setOption('ChannelOrder', 'latency')
  const relay = rig.gateway.context.relay.relay
  rig.upstream.forKey('fast', slowly(50, then()))
  rig.upstream.forKey('slow', slowly(500, then()))
  await rig.channel({ key: 'fast' })
  await rig.channel({ key: 'slow' })
  // The first calls measure both channels. If the first random number of a later call is below 0.05, the call ignores
  // the order, and the next random number, 0.1 or 0.9, picks a channel by weight.
  let chances: number[] = []
  relay.random = () => chances.shift() ?? 0.5
  chances = [0.01, 0.1, 0.01, 0.9]
  await calls(2, body)
  expect(keys().sort()).toEqual(['fast', 'slow'])
  rig.upstream.requests.length = 0
  await calls(10, body)
  expect(keys()).toEqual(new Array(10).fill('fast'))
  chances = [0.01, 0.9]
  await calls(1, body)
  expect(keys().at(-1)).toBe('slow')
  // If the fastest channel fails, the other channel is tried next.
  await rig.gateway.setOption('RetryTimes', '1')
  rig.upstream.forKey('fast', fake.status(404))
  await calls(1, body)
  expect(keys().slice(-2)).toEqual(['fast', 'slow'])
  await rig.gateway.setOption('RetryTimes', '0')
  relay.random = Math.random
})

test('with cost, a call goes to the channel that costs least for the model, and a group can have another order', async () => {
  await rig.gateway.setOption('ChannelOrder', 'cost')
  await rig.gateway.setOption('GroupChannelOrder', '{"vip":"weight"}')
  const ids = new Map<string, number>()
  for (const name of ['unknown', 'dear', 'cheap'])
    ids.set(name, await rig.channel({ key: name, name, group: 'default,vip' }))
  const setCosts = (name: string, costs: object) => rig.gateway.api('PUT', `/api/channel/${ids.get(name)}/costs`, costs)
  await setCosts('dear', { multiplier: null, models: { m: { input: 3, output: 15 } } })
  await setCosts('cheap', { multiplier: null, models: { m: { input: 1, output: 5 } } })
  await calls(10)
  expect(keys()).toEqual(new Array(10).fill('cheap'))
  await setCosts('cheap', { multiplier: null, models: { m: { input: 5, output: 5 } } })
  await calls(1)
  expect(keys().at(-1)).toBe('dear')
  const vip = await rig.caller(undefined, { user: { group: 'vip' } })
  rig.upstream.requests.length = 0
  await calls(40, chat, vip.token)
  expect(new Set(keys()).size).toBe(3)
})

test.each([
  ['ChannelOrder', 'fastest'],
  ['GroupChannelOrder', '{"vip":"fastest"}'],
  ['GroupChannelOrder', '{"vip":1}'],
  ['GroupChannelOrder', '["latency"]'],
  ['GroupChannelOrder', 'latency'],
])('%s refuses %p', async (key, value) => {
  await expect(rig.gateway.setOption(key, value)).rejects.toThrow(key)
})
