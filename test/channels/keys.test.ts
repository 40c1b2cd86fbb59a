// A channel with several keys uses them in turn, and pauses each key separately.
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from 'bun:test'
import { forEachDatabaseUrl } from '../helpers/databases.ts'
import { behaviour, okChat, outOfQuota, status } from '../helpers/fake-upstream.ts'
import { type ChannelRig, startChannelRig } from './setup.ts'

setDefaultTimeout(120_000)

const [one, two, three] = ['upstream-key-one', 'upstream-key-two', 'upstream-key-three']
const invalid = (key: string) => status(401, { message: `Incorrect API key provided: ${key}`, code: 'invalid_api_key' })

forEachDatabaseUrl((_, freshUrl) => {
  let rig: ChannelRig
  let id: number
  beforeEach(async () => {
    // All calls of these tests have the same messages. With channel affinity, the gateway would treat them as one
    // session and send them all with one key.
    rig = await startChannelRig(await freshUrl(), { ChannelAffinity: 'off' })
    id = await rig.channel({ key: `${one}\n${two}\n${three}`, key_mode: 'multi' })
  })
  afterEach(() => rig[Symbol.asyncDispose]())

  const keysUsed = () => rig.upstream.requests.map((request) => request.key)
  const counts = () => {
    const used = keysUsed()
    return [one, two, three].map((key) => used.filter((each) => each === key).length)
  }
  const dead = async () => (await rig.shown(id)).keys_dead
  /** All the data in which a key could be exposed to people or programs. */
  const everything = async () => {
    const { read } = rig.gateway.context.store
    return JSON.stringify([
      await read.selectFrom('logs').selectAll().execute(),
      await read.selectFrom('audit_events').selectAll().execute(),
      await read.selectFrom('channel_dead_keys').selectAll().execute(),
      await read.selectFrom('channel_tests').selectAll().execute(),
      await rig.raw('GET', `/api/channel/${id}/keys`),
      rig.notices(),
    ])
  }

  test('the keys are used in turn', async () => {
    for (let call = 0; call < 9; call++) expect(await rig.chat()).toBe(200)
    expect(counts()).toEqual([3, 3, 3])
    // The rotation continues after a channel is changed.
    await rig.raw('PUT', '/api/channel/', { id, name: 'renamed' })
    expect(await rig.chat()).toBe(200)
    expect(keysUsed()[9]).toBe(keysUsed()[0])
  })

  test('a key that the upstream rejects is paused, and the call is sent again with the next key', async () => {
    rig.upstream.forKey(two, invalid(two))
    for (let call = 0; call < 6; call++) expect(await rig.chat()).toBe(200)
    await rig.until(async () => (await dead()) === 1)
    for (let call = 0; call < 4; call++) expect(await rig.chat()).toBe(200)
    expect(counts()[1]).toBe(1)
    expect((await rig.shown(id)).status).toBe(1)
    const keys = (await rig.raw('GET', `/api/channel/${id}/keys`)).data as { healthy: boolean; reason: string }[]
    expect(keys.map((key) => key.healthy)).toEqual([true, false, true])
    expect(keys[1]?.reason).toContain('401')
    await rig.until(() => rig.notices().some((text) => text.includes('a key of channel')))
    expect(await everything()).not.toMatch(/upstream-key/)
  })

  test('a key whose account is out of credit is paused, and the caller is charged once', async () => {
    rig.upstream.forKey(one, outOfQuota())
    for (let call = 0; call < 3; call++) expect(await rig.chat()).toBe(200)
    await rig.until(async () => (await dead()) === 1)
    expect(await rig.gateway.logs()).toHaveLength(3)
    expect(await rig.gateway.context.store.read.selectFrom('holds').selectAll().execute()).toEqual([])
  })

  test('the channel is disabled only when all its keys are paused and automatic disabling is on', async () => {
    for (const key of [one, two, three]) rig.upstream.forKey(key, invalid(key))
    expect(await rig.chat()).toBe(503)
    await rig.until(async () => (await dead()) === 3)
    expect((await rig.shown(id)).status).toBe(1)
    // All keys are refused, so it does not matter which one is used.
    expect(await rig.chat()).toBe(503)
    await rig.gateway.setOption('AutomaticDisableChannelEnabled', 'true')
    expect(await rig.chat()).toBe(503)
    await rig.until(async () => (await rig.shown(id)).status === 3)
    // The row is written before the nodes are notified, so calls may be sent to the channel for a short time.
    await rig.until(async () => {
      const before = rig.upstream.requests.length
      await rig.chat()
      return rig.upstream.requests.length === before
    })
    await rig.until(() => rig.notices().some((text) => text.includes('was disabled')))
    expect(await everything()).not.toMatch(/upstream-key/)
  })

  test('if a key is replaced during a call and the call fails, the new keys are not paused', async () => {
    await rig.gateway.setOption('AutomaticDisableChannelEnabled', 'true')
    const gate = Promise.withResolvers<void>()
    const late = behaviour('refuses late', (exchange) => gate.promise.then(() => invalid('an old key').run(exchange)))
    for (const key of [one, two, three]) rig.upstream.forKey(key, late)
    const asked = rig.chat()
    await rig.upstream.until(({ requests }) => requests.length === 1)
    await rig.raw('PUT', '/api/channel/', { id, key: 'upstream-key-new' })
    gate.resolve()
    await asked
    // The consequences of a failure are handled after the response. Another channel fails later, so once it is
    // disabled, this failure has been handled too.
    const other = await rig.channel({ key: 'upstream-key-other', models: 'n', key_mode: 'multi' })
    rig.upstream.forKey('upstream-key-other', invalid('upstream-key-other'))
    await rig.gateway.setOption('ModelRatio', '{"m":1,"n":1}')
    await rig.gateway.post('/v1/chat/completions', { model: 'n', messages: [{ role: 'user', content: 'hi' }] })
    await rig.until(async () => (await rig.shown(other)).status === 3)
    expect(await rig.shown(id)).toMatchObject({ status: 1, key_count: 1, keys_dead: 0 })
    expect(await rig.chat()).toBe(200)
  })

  test('when an admin enables the channel, its paused keys are used again', async () => {
    await rig.gateway.setOption('AutomaticDisableChannelEnabled', 'true')
    for (const key of [one, two, three]) rig.upstream.forKey(key, invalid(key))
    expect(await rig.chat()).toBe(503)
    await rig.until(async () => (await rig.shown(id)).status === 3)
    rig.upstream.clear()
    await rig.raw('PUT', '/api/channel/', { id, status: 1 })
    for (let call = 0; call < 3; call++) expect(await rig.chat()).toBe(200)
    expect(counts()).toEqual([1, 1, 1])
    expect(await dead()).toBe(0)
  })

  test('a rate-limited key is paused, and is used again when its pause is over', async () => {
    rig.upstream.forKey(one, status(429, { headers: [['retry-after', '30']] }), okChat())
    for (let call = 0; call < 5; call++) expect(await rig.chat()).toBe(200)
    expect(counts()[0]).toBe(1)
    expect(await dead()).toBe(0)
    rig.time.ms += 31_000
    for (let call = 0; call < 3; call++) expect(await rig.chat()).toBe(200)
    expect(counts()[0]).toBe(2)
  })

  test('an upstream error with status 500 does not pause the key', async () => {
    rig.upstream.next(status(500))
    expect(await rig.chat()).toBe(500)
    expect(rig.upstream.requests).toHaveLength(1)
    expect(await dead()).toBe(0)
  })

  test('one call tries no more than five keys', async () => {
    const keys = Array.from({ length: 8 }, (_, n) => `many-keys-${n}`)
    for (const key of keys) rig.upstream.forKey(key, invalid(key))
    await rig.raw('PUT', '/api/channel/', { id, key: keys.join('\n') })
    expect(await rig.chat()).toBe(503)
    expect(rig.upstream.requests).toHaveLength(5)
    expect(new Set(keysUsed()).size).toBe(5)
    expect(await rig.chat()).toBe(503)
    expect(new Set(keysUsed()).size).toBe(8)
  })

  test('after a test of all channels, keys that were paused for lack of credit are used again if they have credit', async () => {
    await rig.gateway.setOption('AutomaticEnableChannelEnabled', 'true')
    rig.upstream.forKey(one, outOfQuota())
    rig.upstream.forKey(two, outOfQuota())
    for (let call = 0; call < 3; call++) expect(await rig.chat()).toBe(200)
    await rig.until(async () => (await dead()) === 2)
    rig.upstream.clear()
    rig.upstream.forKey(two, outOfQuota())
    await rig.raw('GET', '/api/channel/test')
    await rig.until(async () => (await dead()) === 1)
    const keys = (await rig.raw('GET', `/api/channel/${id}/keys`)).data as { healthy: boolean }[]
    expect(keys.map((key) => key.healthy)).toEqual([true, false, true])
  })
})
