import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { systemClock } from '../../server/lib/clock.ts'
import * as fake from '../helpers/fake-upstream.ts'
import { charged, chat, expectError, type Rig, type Seen, see, startRelayRig, until } from './setup.ts'

let rig: Rig
/** The current DNS response for the upstream's name. */
let addresses: readonly string[] | Promise<readonly string[]>
let lookups: number
let aheadMs = 0

beforeAll(async () => {
  rig = await startRelayRig({
    channels: false,
    clock: { nowMs: () => systemClock.nowMs() + aheadMs },
    async resolve() {
      lookups++
      return addresses
    },
  })
})
afterAll(() => rig[Symbol.asyncDispose]())
beforeEach(async () => {
  await rig.clear()
  addresses = ['127.0.0.1']
  lookups = 0
  // Advances the clock so far that all DNS results cached by earlier tests have expired.
  aheadMs += 3_600_000
})

const named = () => rig.upstream.url.replace('127.0.0.1', 'localhost')

async function call(): Promise<Seen> {
  const caller = await rig.caller()
  const seen = await see(rig.gateway.post('/v1/chat/completions', chat, caller.token))
  if (seen.status !== 200) await charged(rig, caller, 0)
  return seen
}

describe('a channel whose name resolves to a metadata service is not called', () => {
  for (const found of [
    ['169.254.169.254'],
    ['::ffff:169.254.169.254'],
    ['fd00:ec2::254'],
    ['64:ff9b::a9fe:a9fe'],
    ['100.100.100.200'],
    ['10.0.0.1', '169.254.170.2'],
  ]) {
    test(found.join(' '), async () => {
      addresses = found
      const id = await rig.channel({ base_url: named() })
      expectError(await call(), 502, 'do_request_failed')
      const said = async (path: string) =>
        rig.gateway.api('GET', path).then(
          () => 'success',
          (error: Error) => error.message,
        )
      expect(await said(`/api/channel/test/${id}`)).toContain('metadata service')
      for (const path of [`/api/channel/${id}/upstream_models`, `/api/channel/update_balance/${id}`])
        expect(await said(path)).not.toBe('success')
      expect(rig.upstream.requests).toEqual([])
    })
  }

  test('a redirect of the upstream to a metadata service is not followed', async () => {
    await rig.channel({ base_url: named() })
    rig.upstream.next(fake.redirects('http://169.254.169.254/latest/meta-data/'))
    expectError(await call(), 502, 'bad_response_status_code')
  })
})

test('a private IP address may be called', async () => {
  addresses = ['10.1.2.3', '::1']
  await rig.channel({ base_url: named() })
  expect((await call()).status).toBe(200)
})

test('a channel is called even if the gateway cannot resolve its host name, because a forwarding proxy may be able to', async () => {
  addresses = []
  await rig.channel({ base_url: named() })
  expect((await call()).status).toBe(200)
})

test('a host name is looked up at intervals, not for every call', async () => {
  await rig.channel({ base_url: named() })
  for (let index = 0; index < 20; index++) expect((await call()).status).toBe(200)
  expect(lookups).toBe(1)
  aheadMs += 31_000
  for (let index = 0; index < 20; index++) expect((await call()).status).toBe(200)
  expect(lookups).toBe(2)
})

test('while a channel’s host name resolves to a metadata service, the channel is not called', async () => {
  await rig.channel({ base_url: named() })
  expect((await call()).status).toBe(200)
  addresses = ['169.254.169.254']
  aheadMs += 31_000
  await until(async () => (await call()).status === 502)
  aheadMs += 1000
  expectError(await call(), 502, 'do_request_failed')
  addresses = ['127.0.0.1']
  // After this many failures, the circuit breaker would skip the channel, so a new one is created.
  await rig.clear()
  await rig.channel({ base_url: named() })
  expect((await call()).status).toBe(200)

  addresses = ['169.254.169.254']
  aheadMs += 301_000
  const before = rig.upstream.requests.length
  expectError(await call(), 502, 'do_request_failed')
  expect(rig.upstream.requests.length).toBe(before)
})

test('a caller who disconnects during the DNS lookup pays nothing, because no upstream was called', async () => {
  await rig.channel({ base_url: named() })
  const found = Promise.withResolvers<readonly string[]>()
  addresses = found.promise
  const caller = await rig.caller()
  const asked = rig.upstream.requests.length
  const leave = new AbortController()
  const answer = rig.gateway.post('/v1/chat/completions', chat, caller.token, { signal: leave.signal })
  await until(() => lookups > 0)
  leave.abort()
  await answer.catch(() => undefined)
  expect(await charged(rig, caller, 0)).toEqual([])
  found.resolve(['127.0.0.1'])
  expect(rig.upstream.requests.length).toBe(asked)
})
