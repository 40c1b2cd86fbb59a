import { afterEach, beforeEach, expect, test } from 'bun:test'
import { type AttentionItem, type Overview, type OwnOverview, overviewPoints } from '../../../contract/api/overview.ts'
import { logRow } from '../../../test/helpers/accounts.ts'
import { createTestApi, type TestApi } from '../../../test/helpers/api-app.ts'
import { forEachDatabase } from '../../../test/helpers/databases.ts'
import { addBackupRow } from '../../store/installation/backups.ts'
import { saveOption } from '../../store/installation/options.ts'
import { advanceSink, failSink, holdSink } from '../../store/logs/log-sinks.ts'
import { addChannelFailures } from '../../store/usage/channel-failures.ts'
import { rollUpUsage } from '../../store/usage/usage-rollup.ts'

const hour = 3600
const day = 24 * hour
/** 22:13:20 UTC, within a five-minute interval that began 200 seconds ago. */
const now = 1_700_000_000

forEachDatabase((_, openFresh) => {
  let api: TestApi
  let admin: Awaited<ReturnType<TestApi['addPerson']>>
  let ada: typeof admin

  beforeEach(async () => {
    api = await createTestApi(await openFresh())
    admin = await api.addPerson({ username: 'admin', role: 10 })
    ada = await api.addPerson({ username: 'ada' })
    // An old installation gets a hint to set up backups.
    await api.store.write((trx) =>
      trx
        .updateTable('users')
        .set({ created_time: now - day })
        .execute(),
    )
  })
  afterEach(() => api.store.close())

  const add = (who: typeof admin, created_at: number, fields: object = {}) =>
    api.store.write((trx) =>
      trx
        .insertInto('logs')
        .values({
          ...logRow({ userId: who.id, tokenId: 1, channelId: 99 }),
          username: who.username,
          created_at,
          quota: 10,
          prompt_tokens: 3,
          completion_tokens: 4,
          first_byte_time: 100,
          ...fields,
        })
        .execute(),
    )
  const fail = (who: typeof admin, created_at: number, code: string, fields: object = {}) =>
    add(who, created_at, {
      type: 6,
      quota: 0,
      outcome: 'failed',
      code,
      first_byte_time: 0,
      prompt_tokens: 0,
      completion_tokens: 0,
      ...fields,
    })
  const read = async (): Promise<Overview> => (await api.call('GET', '/api/overview/', { as: admin.token })).json.data
  const later = (ms: number) => {
    api.time.ms += ms
  }
  const kinds = (items: readonly AttentionItem[]) => items.map(({ kind, target }) => `${kind} ${target.name}`)

  async function addChannel(fields: object = {}): Promise<number> {
    const body = { type: 1, name: 'main', key: 'k', models: 'gpt-4', group: 'default', ...fields }
    const [id] = (await api.call('POST', '/api/channel/', { as: admin.token, body })).json.data
    return id
  }
  const setChannel = (id: number, fields: object) =>
    api.store.write((trx) => trx.updateTable('channels').set(fields).where('id', '=', id).execute())

  test('an installation without calls has zeros, no percentiles, and nothing that needs attention', async () => {
    const { hour: figures, day: hours, spenders, attention } = await read()
    expect(figures.requests).toEqual({ now: 0, before: 0, points: Array(overviewPoints).fill(0) })
    expect(figures.first_byte_p95.now).toBeNull()
    expect([hours.starts.length, spenders, attention]).toEqual([24, [], []])
  })

  test('the last hour is compared with the hour before, with the same figures before and after the rollup', async () => {
    for (const created_at of [now - 1, now - 250, now - 3000, now - 4000, now - 5000]) await add(ada, created_at)
    await fail(ada, now - 10, 'upstream_timeout', { left_out: 2 })
    await add(admin, now - 4500, { outcome: 'interrupted', first_byte_time: 2000 })
    await add(ada, now - 3 * hour)
    const expected = { requests: [6, 3], failed: [3, 1], tokens: [21, 21], quota: [30, 30], people: [1, 2] }
    for (const isCounted of [false, true]) {
      if (isCounted) await rollUpUsage(api.store, now)
      later(6000)
      const { hour: figures } = await read()
      const found = Object.keys(expected).map((name) => {
        const { now: current, before } = figures[name as keyof typeof expected]
        return [name, [current, before]]
      })
      expect(Object.fromEntries(found)).toEqual(expected)
      expect(figures.requests.points.reduce((sum, each) => sum + each, 0)).toBe(6)
      expect(figures.requests.points.at(-1)).toBe(4)
      expect(figures.first_byte_p50.now).toBeWithin(80, 116)
      expect(figures.first_byte_p95.before).toBeWithin(1700, 2300)
    }
  })

  test('a row that is written after its interval was read is counted exactly once', async () => {
    await add(ada, now - 2000)
    await add(ada, now - 20)
    expect((await read()).hour.requests.now).toBe(2)
    await add(ada, now - 30)
    // The response is cached for five seconds.
    expect((await read()).hour.requests.now).toBe(2)
    later(6000)
    expect((await read()).hour.requests.now).toBe(3)
    later(20 * 60_000)
    await add(ada, now + 1200)
    expect((await read()).hour.requests.now).toBe(4)
    later(6000)
    expect((await read()).hour.requests.now).toBe(4)
    later(hour * 1000)
    expect((await read()).hour.requests).toMatchObject({ now: 0, before: 4 })
  })

  test('calls of the last day are counted by hour and outcome', async () => {
    await add(ada, now - 10)
    await add(ada, now - 20, { outcome: 'interrupted' })
    await fail(ada, now - 2 * hour, 'upstream_timeout')
    await add(ada, now - 25 * hour)
    const { day: hours } = await read()
    expect(hours.starts.at(-1)).toBe(now - (now % hour))
    expect(hours.succeeded).toEqual([...Array(23).fill(0), 1])
    expect(hours.interrupted).toEqual([...Array(23).fill(0), 1])
    expect(hours.failed).toEqual([...Array(21).fill(0), 1, 0, 0])
  })

  test('the users who spent the most in the last seven days are listed with their spending in the seven days before', async () => {
    await add(ada, now - day, { quota: 100 })
    await add(ada, now - 9 * day, { quota: 40 })
    await add(admin, now - day, { quota: 300 })
    expect((await read()).spenders).toEqual([
      { id: admin.id, name: 'admin', quota: 300, before: 0 },
      { id: ada.id, name: 'ada', quota: 100, before: 40 },
    ])
  })

  test('channels that are disabled, failing or paused need attention, but not channels that a person disabled', async () => {
    const off = await addChannel({ name: 'off' })
    await setChannel(off, { status: 3, status_reason: 'the key was refused', status_time: now - 60 })
    await setChannel(await addChannel({ name: 'own' }), { status: 2 })
    const failing = await addChannel({ name: 'failing' })
    const fine = await addChannel({ name: 'fine' })
    const slot = Math.floor(now / hour)
    await api.store.write((trx) =>
      addChannelFailures(trx, [
        { channel_id: failing, model_name: 'gpt-4', slot, attempts: 2 },
        { channel_id: fine, model_name: 'gpt-4', slot: slot - 1, attempts: 4 },
      ]),
    )
    for (let call = 0; call < 4; call++) await add(ada, now - 10, { channel_id: failing })
    // The channel failed in the previous hour and works now.
    for (let call = 0; call < 5; call++) await add(ada, now - 10, { channel_id: fine })
    await api.store.write((trx) =>
      trx
        .insertInto('audit_events')
        .values({
          created_at: now - 30,
          actor_id: 0,
          actor_name: '',
          action: 'channel.cool-down',
          target: `channel ${fine}`,
          detail: '5 calls in a row failed',
          ip: '',
        })
        .execute(),
    )
    const { attention } = await read()
    expect(kinds(attention)).toEqual(['channel_off off', 'channel_failing failing', 'channel_cooling fine'])
    expect(attention[0]).toMatchObject({ since: now - 60, reason: 'the key was refused', act: 'test_and_enable' })
    expect(attention[1]).toMatchObject({ count: 6, failed: 2, act: 'open_channel' })
    later(400_000)
    expect(kinds((await read()).attention)).not.toContain('channel_cooling fine')
  })

  test('a channel with little traffic counts as failing if its attempts in the last hours failed', async () => {
    const rare = await addChannel({ name: 'rare' })
    const mended = await addChannel({ name: 'mended' })
    const old = await addChannel({ name: 'old' })
    const slot = Math.floor(now / hour)
    const failures = [1, 3, 5].flatMap((hours) => [
      { channel_id: rare, model_name: 'gpt-4', slot: slot - hours, attempts: 2 },
      { channel_id: mended, model_name: 'gpt-4', slot: slot - hours, attempts: 2 },
      { channel_id: old, model_name: 'gpt-4', slot: slot - 5 - hours, attempts: 2 },
    ])
    await api.store.write((trx) => addChannelFailures(trx, failures))
    for (let call = 0; call < 5; call++) await add(ada, now - 10, { channel_id: mended })
    const { attention } = await read()
    expect(kinds(attention)).toEqual(['channel_failing rare'])
    expect(attention[0]).toMatchObject({ count: 6, failed: 6, since: (slot - 5) * hour })
  })

  test('models that were requested need attention until they have a channel or a price', async () => {
    await fail(ada, now - 100, 'no_available_channel', { asked_model: 'gpt-4', model_name: '' })
    await fail(ada, now - 90, 'no_available_channel', { asked_model: 'gpt-4', model_name: '', left_out: 3 })
    await fail(ada, now - 80, 'model_not_priced', { model_name: 'own-model' })
    await fail(ada, now - 2 * day, 'no_available_channel', { asked_model: 'long-ago', model_name: '' })
    await fail(ada, now - 80, 'invalid_json', { asked_model: 'other' })
    const { attention } = await read()
    expect(kinds(attention)).toEqual(['model_no_route gpt-4', 'model_no_price own-model'])
    expect(attention[0]).toMatchObject({ count: 5, since: now - 100, reason: 'default' })
    await addChannel()
    await api.call('PUT', '/api/option/', {
      as: (await api.addPerson({ username: 'root2', role: 100 })).token,
      body: { key: 'ModelRatio', value: '{"own-model": 1}' },
    })
    later(6000)
    await api.settings.reload()
    expect(kinds((await read()).attention)).toEqual([])
  })

  test('users without quota, users whose spending jumped and channels with a low balance need attention', async () => {
    const poor = await api.addPerson({ username: 'poor', quota: 0 })
    const rich = await api.addPerson({ username: 'rich', quota: 1_000_000 })
    for (const who of [poor, rich]) await fail(who, now - 50, 'insufficient_user_quota')
    for (let ago = 1; ago <= 5; ago++) await add(ada, now - ago * day, { quota: 400_000 })
    await add(ada, now - 10, { quota: 1_300_000 })
    for (let ago = 1; ago <= 2; ago++) await add(rich, now - ago * day, { quota: 1 })
    await add(rich, now - 10, { quota: 600_000 })
    const channel = await addChannel({ name: 'prepaid' })
    await setChannel(channel, { balance: 0.5, balance_updated_time: now - 10 })
    await add(admin, now - 20, { channel_id: channel, quota: 400_000 })
    const { attention } = await read()
    expect(kinds(attention)).toEqual(['balance_low prepaid', 'person_no_quota poor', 'spend_jump ada'])
    expect(attention[0]).toMatchObject({ amount: 0.5, limit: 0.8 })
    expect(attention[2]).toMatchObject({ amount: 1_300_000, limit: 400_000 })
  })

  test('a failed or old backup needs attention, and an installation that has never made a backup gets a hint after a week', async () => {
    const row = { place: 'files' as const, host: 'h', path: '/b/x', made_by: 'schedule', bytes: 1, error: '' }
    const made = (started_at: number, fields: object = {}) =>
      api.store.write((trx) => addBackupRow(trx, { ...row, started_at, finished_at: started_at + 1, ...fields }))
    const backups = async () => {
      later(6000)
      return (await read()).attention.filter(({ target }) => target.type === 'backup')
    }
    const createdAt = (created_time: number) =>
      api.store.write((trx) => trx.updateTable('users').set({ created_time }).execute())
    await createdAt(now - day)
    expect(await backups()).toEqual([])
    await createdAt(now - 8 * day)
    expect(await backups()).toMatchObject([{ kind: 'backup_none', act: 'open_backups' }])
    // A backup that was made on the command line also counts.
    await made(now - 6 * day, { made_by: 'command line' })
    expect(await backups()).toEqual([])
    await api.store.write((trx) => saveOption(trx, 'BackupStore', 'files'))
    await api.settings.reload()
    expect(await backups()).toMatchObject([{ kind: 'backup_old', since: now - 6 * day }])
    await made(now - day)
    expect(await backups()).toEqual([])
    await made(now - 60, { error: 'the disk is full' })
    expect(await backups()).toMatchObject([{ kind: 'backup_failed', reason: 'the disk is full', since: now - 59 }])
  })

  test('a failing copy of the log needs attention after ten minutes, and only the settings show the reason', async () => {
    const root = await api.addPerson({ username: 'root', role: 100 })
    const copies = async () => {
      later(6000)
      return (await read()).attention.filter(({ target }) => target.type === 'log_copy')
    }
    await api.store.write((trx) => saveOption(trx, 'LogCopyPlace', 'files'))
    await api.settings.reload()
    const { name } = (await api.call('GET', '/api/log_copy/', { as: root.token })).json.data as { name: string }
    await holdSink(api.store, { name, holder: 'a node', now, until: now + 60 })
    expect(await copies()).toEqual([])
    await advanceSink(api.store, { name, holder: 'a node', to: 1, rows: 1, now: now - 60, until: now + 60 })
    await failSink(api.store, name, 'No answer from 203.0.113.9.', now - 5)
    expect(await copies()).toEqual([])
    later(600_000)
    const [item, ...others] = await copies()
    expect(others).toEqual([])
    expect(item).toMatchObject({ kind: 'log_copy_failed', since: now - 60, act: 'open_log_copy', reason: '' })
    await advanceSink(api.store, { name, holder: 'a node', to: 2, rows: 1, now: now + 600, until: now + 660 })
    expect(await copies()).toEqual([])
  })

  test('a user gets only their own figures, errors and tokens', async () => {
    await api.store.write((trx) => trx.updateTable('users').set({ quota: 700 }).where('id', '=', ada.id).execute())
    await add(ada, now - 60, { quota: 30 })
    await add(ada, now - 2 * day, { quota: 40 })
    await add(admin, now - 60, { quota: 999 })
    await fail(ada, now - 50, 'upstream_timeout', { content: 'too slow', upstream_message: 'secret', channel_id: 3 })
    await fail(ada, now - 40, 'upstream_timeout', { content: 'too slow again', left_out: 1 })
    await fail(admin, now - 40, 'invalid_json')
    const body = { name: 'short', expired_time: now + 60, remain_quota: 5 }
    await api.call('POST', '/api/token/', { as: ada.token, body })
    later(61_000)
    const { json } = await api.call('GET', '/api/overview/self?utc_offset=480', { as: ada.token })
    const own: OwnOverview = json.data
    expect(own).toMatchObject({ balance: 700, days_left: 70, token_count: 1 })
    expect(own.quota.slice(-3)).toEqual([40, 0, 30])
    expect(own.requests.at(-1)).toBe(1)
    expect(own.errors).toEqual([{ code: 'upstream_timeout', message: 'too slow again', count: 3, last: now - 40 }])
    expect(own.tokens).toMatchObject([{ name: 'short', status: 3 }])
    expect(JSON.stringify(own)).not.toContain('secret')
    const refused = await api.call('GET', '/api/overview/', { as: ada.token })
    expect(refused.json.success).toBe(false)
    const far = await api.call('GET', '/api/overview/self?utc_offset=9999', { as: ada.token })
    expect(far.json.success).toBe(false)
  })
})
