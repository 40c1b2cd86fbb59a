import { afterEach, beforeEach, expect, test } from 'bun:test'
import type { ChannelHealth, TimelineEntry } from '../../../contract/api/channel-health.ts'
import { logRow } from '../../../test/helpers/accounts.ts'
import { createTestApi, type TestApi } from '../../../test/helpers/api-app.ts'
import { forEachDatabase } from '../../../test/helpers/databases.ts'
import { addChannelTest } from '../../store/channels/channel-tests.ts'
import { addChannelFailures } from '../../store/usage/channel-failures.ts'
import { rollUpUsage } from '../../store/usage/usage-rollup.ts'

const hour = 3600
const now = 1_700_000_000
const slot = Math.floor(now / hour)

forEachDatabase((_, openFresh) => {
  let api: TestApi
  let admin: Awaited<ReturnType<TestApi['addPerson']>>

  beforeEach(async () => {
    api = await createTestApi(await openFresh())
    admin = await api.addPerson({ username: 'admin', role: 10 })
  })
  afterEach(() => api.store.close())

  async function addChannel(name: string): Promise<number> {
    const body = { type: 1, name, key: 'k', models: 'gpt-4', group: 'default' }
    return (await api.call('POST', '/api/channel/', { as: admin.token, body })).json.data[0]
  }
  const add = (channelId: number, created_at: number, fields: object = {}) =>
    api.store.write((trx) =>
      trx
        .insertInto('logs')
        .values({
          quota: 0,
          ...logRow({ userId: admin.id, tokenId: 1, channelId }),
          created_at,
          first_byte_time: 200,
          ...fields,
        })
        .execute(),
    )

  test('the health of every channel is measured from its traffic in the last 24 hours', async () => {
    const [busy, idle] = [await addChannel('busy'), await addChannel('idle')]
    for (const at of [now - 10, now - 2 * hour, now - 2 * hour]) await add(busy, at)
    const failure = { channelId: busy, status: 500, error: 'too busy', elapsedMs: 5 }
    const attempts = JSON.stringify([failure, { channelId: idle, status: 200, error: '', elapsedMs: 9 }])
    await add(idle, now - 60, { attempts, outcome: 'interrupted', first_byte_time: 0 })
    await add(busy, now - 30 * hour)
    await api.store.write((trx) =>
      addChannelFailures(trx, [{ channel_id: busy, model_name: 'gpt-4', slot, attempts: 1 }]),
    )
    for (const isCounted of [false, true]) {
      if (isCounted) await rollUpUsage(api.store, now)
      api.time.ms += 6000
      const { data } = (await api.call('GET', '/api/channel/health', { as: admin.token })).json
      expect(data.starts.at(-1)).toBe(slot * hour)
      const [first, second]: ChannelHealth[] = data.channels
      expect(first).toMatchObject({ id: busy, name: 'busy', share: 0.8 })
      expect(first?.attempts.slice(-3)).toEqual([2, 0, 2])
      expect(first?.failed.slice(-3)).toEqual([0, 0, 1])
      expect(first?.first_byte_p50).toBeWithin(170, 231)
      expect(first?.last_error).toEqual({ time: now - 60, status: 500, message: 'too busy' })
      expect(second).toMatchObject({ id: idle, first_byte_p50: null, last_error: null })
      expect(second?.failed.at(-1)).toBe(1)
    }
  })

  test('a timeline contains the gateway’s actions on one channel, its changes and its tests, newest first', async () => {
    const [id, other] = [await addChannel('one'), await addChannel('other')]
    api.time.ms += 1000
    await api.call('PUT', '/api/channel/', { as: admin.token, body: { id, name: 'new name' } })
    await api.call('PUT', '/api/channel/', { as: admin.token, body: { id: other, name: 'not this one' } })
    const event = { actor_id: 0, actor_name: '', target: `channel ${id}`, ip: '' }
    await api.store.write(async (trx) => {
      const test = { created_at: now + 2, model: 'gpt-4', ok: false, elapsed_time: 70, message: 'no key' }
      await addChannelTest(trx, id, test)
      await trx
        .insertInto('audit_events')
        .values({ ...event, created_at: now + 3, action: 'channel.auto-disable', detail: 'the key was refused' })
        .execute()
    })
    const path = `/api/channel/${id}/timeline`
    const entries: TimelineEntry[] = (await api.call('GET', path, { as: admin.token })).json.data
    expect(entries.map(({ time, kind, action, actor }) => [time - now, kind, action, actor])).toEqual([
      [3, 'event', 'channel.auto-disable', ''],
      [2, 'test', '', ''],
      [1, 'change', 'channel.update', 'admin'],
      [0, 'change', 'channel.create', 'admin'],
    ])
    expect(entries[1]).toMatchObject({ ok: false, model: 'gpt-4', response_time: 70, detail: 'no key' })
    const missing = await api.call('GET', '/api/channel/999/timeline', { as: admin.token })
    expect(missing.json).toMatchObject({ success: false, message: 'This channel does not exist.' })
  })
})
