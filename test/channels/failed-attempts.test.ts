// A channel's failed attempts are counted for that channel, and admins can see what the gateway did automatically in
// response.
import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import type { Channel } from '../../contract/api/channel.ts'
import type { Log } from '../../contract/api/log.ts'
import type { Usage } from '../../contract/api/usage.ts'
import { forEachDatabaseUrl } from '../helpers/databases.ts'
import * as fake from '../helpers/fake-upstream.ts'
import { chat, type Rig, see, startRelayRig, until } from '../relay/setup.ts'

const path = '/v1/chat/completions'

forEachDatabaseUrl((kind, freshUrl) => {
  let rig: Rig
  /** How far the gateway's clock is ahead of the real time, in milliseconds. */
  let aheadMs = 0

  beforeAll(async () => {
    const database = kind === 'postgres' ? { databaseUrl: await freshUrl() } : {}
    rig = await startRelayRig({
      ...database,
      clock: { nowMs: () => Date.now() + aheadMs },
      channels: false,
      env: { GLOBAL_API_RATE_LIMIT: '1000000' },
    })
  })
  beforeEach(() =>
    rig.clear({
      RetryTimes: '1',
      AutomaticDisableChannelEnabled: 'false',
      AutomaticEnableChannelEnabled: 'false',
    }),
  )
  afterAll(() => rig[Symbol.asyncDispose]())

  const call = () => see(rig.gateway.post(path, chat))
  const usage = async (query: string) => {
    await rig.gateway.context.relay.relay.channelFailures.write()
    return rig.gateway.api<Usage>('GET', `/api/usage/?${query}`)
  }
  const failedOf = async (channel: number) =>
    (await usage('group_by=channel&metric=failed&top=50')).groups.find(({ key }) => key === String(channel))?.total
  /** The log rows about the gateway's automatic actions on a channel, newest first. */
  const eventsOf = (channel: number) => rig.gateway.api<Log[]>('GET', `/api/log/?type=4&channel=${channel}`)
  const channelOf = (id: number) => rig.gateway.api<Channel>('GET', `/api/channel/${id}`)
  const auditOf = async (channel: number) =>
    (
      await rig.gateway.api<{ action: string; target: string; detail: string; actor_id: number }[]>(
        'GET',
        '/api/audit/?action=channel.',
      )
    ).filter(({ target, actor_id }) => target === `channel ${channel}` && actor_id === 0)

  test('an attempt that failed and was retried on another channel counts as failed for its own channel only', async () => {
    const bad = await rig.channel({ key: 'bad', priority: 1 })
    const good = await rig.channel({ key: 'good' })
    rig.upstream.forKey('bad', fake.status(500))
    rig.upstream.forKey('good', fake.ok())
    const before = (await usage('metric=failed')).total
    expect((await call()).status).toBe(200)
    expect((await call()).status).toBe(200)
    expect(await failedOf(bad)).toMatchObject({ failed: 2, requests: 0, quota: 0 })
    expect(await failedOf(good)).toMatchObject({ failed: 0, requests: 2 })
    expect((await usage(`channel=${bad}&metric=failed`)).total).toMatchObject({ failed: 2, requests: 0 })
    const byModel = await usage(`channel=${bad}&metric=failed&group_by=model&rollup=hour`)
    expect(byModel.groups).toMatchObject([{ key: 'm', total: { failed: 2 } }])
    expect(byModel.values.reduce((sum, value) => sum + value, 0)).toBe(2)
    expect((await usage('metric=failed')).total).toMatchObject({ failed: before.failed, requests: before.requests + 2 })
  })

  test('a failed attempt counts even if it was not retried, but an error that the caller caused does not', async () => {
    const id = await rig.channel()
    rig.upstream.always(fake.status(503))
    expect((await call()).status).toBe(503)
    rig.upstream.always(fake.status(400))
    expect((await call()).status).toBe(400)
    expect(await failedOf(id)).toMatchObject({ failed: 1 })
  })

  test('when a channel is disabled or enabled automatically, the log, the audit log and the channel’s row give the reason', async () => {
    await rig.gateway.setOption('AutomaticDisableChannelEnabled', 'true')
    await rig.gateway.setOption('AutomaticEnableChannelEnabled', 'true')
    const id = await rig.channel({ name: 'first' })
    rig.upstream.always(fake.status(401, { message: 'This key is closed.' }))
    await call()
    await until(async () => (await channelOf(id)).status === 3)
    const [row] = await eventsOf(id)
    expect(row).toMatchObject({ type: 4, user_id: 0, quota: 0, channel: id })
    expect(row?.content).toMatch(/^channel \d+ \(first\) was disabled automatically: .*This key is closed\.$/)
    expect(await auditOf(id)).toMatchObject([{ action: 'channel.auto-disable' }])
    const disabled = await channelOf(id)
    expect(disabled.status_reason).toContain('This key is closed.')
    expect(disabled.status_time).toBe(row?.created_at ?? 0)

    rig.upstream.always(fake.ok())
    await rig.gateway.api('GET', '/api/channel/test?scope=disabled')
    await until(async () => (await channelOf(id)).status === 1)
    expect((await eventsOf(id))[0]?.content).toContain('was enabled automatically')
    expect((await auditOf(id)).map(({ action }) => action)).toEqual(['channel.auto-enable', 'channel.auto-disable'])
    expect((await channelOf(id)).status_reason).toBe('it passed its test')
  })

  test('a channel that is paused after failures is reported at most once a minute, with the error that it returned', async () => {
    await rig.gateway.setOption('RetryTimes', '0')
    const id = await rig.channel()
    rig.upstream.always(fake.status(503, { message: 'we are overloaded' }))
    for (let count = 0; count < 5; count++) await call()
    await until(async () => (await eventsOf(id)).length === 1)
    const [row] = await eventsOf(id)
    expect(row?.content).toContain('was paused for 5 s for model m: 5 requests in a row failed')
    expect(row?.content).toContain('we are overloaded')
    expect(await auditOf(id)).toMatchObject([{ action: 'channel.cool-down' }])
    expect((await channelOf(id)).status_reason).toContain('we are overloaded')
    // The trial call fails, so the pause is extended. This is not reported, because less than a minute has passed since
    // the first report.
    aheadMs += 6_000
    await call()
    aheadMs += 70_000
    await call()
    await until(async () => (await eventsOf(id)).length === 2)
    expect((await eventsOf(id))[0]?.content).toContain('the retry failed')
  })

  test('a pause that a service requests with Retry-After is reported', async () => {
    await rig.gateway.setOption('RetryTimes', '0')
    const id = await rig.channel()
    rig.upstream.always(fake.status(429, { message: 'slow down', headers: [['retry-after', '7']] }))
    for (let count = 0; count < 3; count++) await call()
    await until(async () => (await eventsOf(id)).length === 1)
    expect((await eventsOf(id))[0]?.content).toContain('was paused for 7 s for model m: the provider asked for a pause')
  })

  test('when a key is paused and when it is used again, a log row is written that does not contain the key', async () => {
    await rig.gateway.setOption('AutomaticEnableChannelEnabled', 'true')
    const keys = ['key-that-is-closed-0001', 'key-that-is-open-0002']
    const id = await rig.channel({ key: keys.join('\n'), key_mode: 'multi' } as object)
    rig.upstream.forKey(keys[0] ?? '', fake.status(401, { message: `no such key: ${keys[0]}` }))
    rig.upstream.forKey(keys[1] ?? '', fake.ok())
    for (let count = 0; count < 2; count++) await call()
    await until(async () => (await eventsOf(id)).length === 1)
    const [row] = await eventsOf(id)
    expect(row?.content).toContain('paused a key, 1 left')
    expect(JSON.stringify([row, await auditOf(id), await channelOf(id)])).not.toContain('closed-0001')
    expect(await auditOf(id)).toMatchObject([{ action: 'channel.set-key-aside' }])
    rig.upstream.forKey(keys[0] ?? '', fake.ok())
    await rig.gateway.api('GET', '/api/channel/test')
    await until(async () => (await eventsOf(id)).length === 2)
    expect(await auditOf(id)).toMatchObject([{ action: 'channel.revive-key' }, { action: 'channel.set-key-aside' }])
  })
})
