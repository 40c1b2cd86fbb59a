import { afterEach, beforeEach, expect, test } from 'bun:test'
import { createTestApi, type TestApi } from '../../../test/helpers/api-app.ts'
import { forEachDatabase } from '../../../test/helpers/databases.ts'
import { mailThrough, startMailServer } from '../../../test/helpers/mail-server.ts'
import { startService } from '../../../test/helpers/outside-services.ts'

forEachDatabase((_, openFresh) => {
  let api: TestApi
  let admin: { id: number; token: string }
  let ada: { id: number; token: string }
  let bob: { id: number; token: string }

  beforeEach(async () => {
    api = await createTestApi(await openFresh())
    admin = await api.addPerson({ username: 'admin', role: 10 })
    ada = await api.addPerson({ username: 'ada' })
    bob = await api.addPerson({ username: 'bob' })
  })
  afterEach(() => api.store.close())

  const call = async (method: string, path: string, body?: unknown, as = ada.token) =>
    (await api.call(method, `/api/alert${path}`, { as, ...(body !== undefined && { body }) })).json
  const addHook = async (fields: object = {}, path = '/self', as = ada.token) =>
    call(
      'POST',
      `${path}/destination`,
      { kind: 'webhook', name: 'hook', url: 'https://hooks.example/s3cret', ...fields },
      as,
    )
  const addRule = (fields: object = {}, path = '/self', as = ada.token) =>
    call('POST', `${path}/rule`, { kind: 'own_balance', name: 'low', threshold: 500, ...fields }, as)

  test('a new rule gets default values, and an update changes only the fields that are sent', async () => {
    const { data } = await addRule()
    expect(data).toEqual({
      id: data.id,
      kind: 'own_balance',
      name: 'low',
      enabled: true,
      threshold: 500,
      minutes: 10,
      min_calls: 20,
      channel_id: 0,
      destinations: [],
      title: '',
      text: '',
      language: 'en',
      remind_hours: 0,
      send_resolved: true,
      quiet_start: '',
      quiet_end: '',
      time_zone: 'UTC',
      created_time: 1_700_000_000,
      firing: [],
    })
    const changed = await call('PUT', '/self/rule', {
      ...data,
      name: 'lower',
      quiet_start: '22:00',
      quiet_end: '07:30',
    })
    expect(changed.data).toMatchObject({ name: 'lower', threshold: 500, quiet_start: '22:00', quiet_end: '07:30' })
    expect((await call('GET', '/self/rule')).data).toEqual([changed.data])
    expect((await call('DELETE', `/self/rule/${data.id}`)).success).toBe(true)
    expect((await call('GET', '/self/rule')).data).toEqual([])
  })

  test('invalid rules are refused with the name of the field', async () => {
    const cases: [fields: object, word: string][] = [
      [{ threshold: 0 }, 'threshold'],
      [{ threshold: -1 }, 'threshold'],
      [{ kind: 'own_error_rate', threshold: 100 }, 'threshold'],
      [{ minutes: 4 }, 'minutes'],
      [{ minutes: 61 }, 'minutes'],
      [{ name: ' ' }, 'name'],
      [{ name: 'x'.repeat(61) }, 'name'],
      [{ kind: 'error_rate' }, 'kind'],
      [{ kind: 'nonsense' }, 'kind'],
      [{ title: 'Hello {who}' }, '{who}'],
      [{ text: '{__proto__}' }, '{__proto__}'],
      [{ title: 'x'.repeat(121) }, 'title'],
      [{ quiet_start: '24:00' }, 'quiet_start'],
      [{ quiet_start: '22:00' }, 'quiet_end'],
      [{ time_zone: 'Mars/Olympus' }, 'time_zone'],
      [{ destinations: [999] }, 'destinations'],
      [{ destinations: [1, 2, 3, 4, 5, 6] }, 'destinations'],
      [{ channel_id: 1 }, 'channel_id'],
      [{ remind_hours: 169 }, 'remind_hours'],
      [{ owner_id: 1 }, 'owner_id'],
    ]
    for (const [fields, word] of cases) {
      const answer = await addRule(fields)
      expect([fields, answer.success]).toEqual([fields, false])
      expect(answer.message).toContain(word)
    }
    expect((await addRule({ kind: 'own_balance' }, '', admin.token)).message).toContain('kind')
  })

  test('the secrets of a destination are encrypted, and never returned', async () => {
    const { data } = await addHook()
    const { secret } = data
    expect(secret).toMatch(/^\w{32}$/)
    expect(data).toMatchObject({ hint: 'hooks.example', has_secret: true })
    const listed = (await call('GET', '/self/destination')).data
    const row = await api.store.read.selectFrom('alert_destinations').selectAll().executeTakeFirstOrThrow()
    for (const text of [JSON.stringify(listed), JSON.stringify(row)]) {
      expect(text).not.toContain('s3cret')
      expect(text).not.toContain(secret)
    }
    const events = await api.store.read.selectFrom('audit_events').selectAll().execute()
    expect(JSON.stringify(events)).not.toContain('s3cret')
    expect(events.map(({ action }) => action)).toContain('alert.create-destination')
    expect((await addHook({ secret: 'mine' })).data).toMatchObject({ has_secret: true, secret: '' })
    const renamed = await call('PUT', '/self/destination', { id: data.id, name: 'other', url: '', secret: '' })
    expect(renamed.data).toMatchObject({ name: 'other', hint: 'hooks.example', has_secret: true })
  })

  test('each kind of destination requires its own fields', async () => {
    const cases: [fields: object, word: string | undefined][] = [
      [{ kind: 'slack', url: 'https://hooks.slack.com/services/T/B/x' }, undefined],
      [{ kind: 'slack', url: '' }, 'url'],
      [{ kind: 'slack', secret: 'x' }, 'secret'],
      [{ kind: 'webhook', url: 'ftp://x' }, 'url'],
      [{ kind: 'webhook', url: 'https://me:pass@x.example/' }, 'url'],
      [{ kind: 'webhook', url: 'https://x.example/\r\nHost: y' }, 'url'],
      [{ kind: 'telegram', url: '', to: '1' }, 'token'],
      [{ kind: 'telegram', url: '', token: 't', to: 'a b' }, 'to'],
      [{ kind: 'telegram', url: '', token: 't' }, 'to'],
      [{ kind: 'ntfy', url: '', to: 'a/b' }, 'to'],
      [{ kind: 'ntfy', url: '', to: 'a', token: 'x\r\nevil: 1' }, 'token'],
      [{ kind: 'mail', url: '', to: 'someone@example.com' }, 'to'],
      [{ kind: 'mail', url: '' }, undefined],
      [{ kind: 'bark', url: '', token: 'k' }, undefined],
    ]
    for (const [fields, word] of cases) {
      const answer = await addHook(fields)
      expect([fields, answer.success]).toEqual([fields, word === undefined])
      if (word !== undefined) expect(answer.message).toContain(word)
    }
    expect((await addHook({ kind: 'mail', url: '', to: 'x' }, '', admin.token)).message).toContain('to')
  })

  test('an account has at most five destinations and twenty rules, even if they are created at the same time', async () => {
    const made = await Promise.all(Array.from({ length: 9 }, () => addHook()))
    expect(made.filter(({ success }) => success)).toHaveLength(5)
    expect(made.find(({ success }) => !success)?.message).toContain('5 destinations')
    const rules = await Promise.all(Array.from({ length: 24 }, () => addRule()))
    expect(rules.filter(({ success }) => success)).toHaveLength(20)
  })

  test("other people's rules and destinations are not found, not even by admins", async () => {
    const rule = (await addRule()).data
    const hook = (await addHook()).data
    for (const as of [bob.token, admin.token])
      for (const path of as === bob.token ? ['/self'] : ['/self', '']) {
        expect((await call('GET', `${path}/rule`, undefined, as)).data).toEqual([])
        expect((await call('GET', `${path}/destination`, undefined, as)).data).toEqual([])
        expect((await call('PUT', `${path}/rule`, { id: rule.id, enabled: false }, as)).message).toContain('not exist')
        expect((await call('DELETE', `${path}/rule/${rule.id}`, undefined, as)).message).toContain('not exist')
        const moved = { id: hook.id, url: 'https://evil.example/' }
        expect((await call('PUT', `${path}/destination`, moved, as)).message).toContain('not exist')
        expect((await call('POST', `${path}/destination/${hook.id}/test`, {}, as)).message).toContain('not exist')
        expect((await call('DELETE', `${path}/destination/${hook.id}`, undefined, as)).message).toContain('not exist')
      }
    const theirs = (await addHook({}, '', admin.token)).data
    expect((await addRule({ destinations: [theirs.id] })).message).toContain('destinations')
    expect((await call('GET', '/rule')).message).toContain('permission')
  })

  test('a token and a topic must be entered again when their server changes, so that they cannot be sent elsewhere', async () => {
    const { data } = await addHook(
      { kind: 'ntfy', url: 'https://ntfy.example', token: 'tk', to: 'topic' },
      '',
      admin.token,
    )
    const move = (fields: object) =>
      call('PUT', '/destination', { id: data.id, url: 'https://evil.example', ...fields }, admin.token)
    expect((await move({})).message).toContain('token')
    expect((await move({ token: 'tk2' })).message).toContain('to must')
    expect((await move({ token: 'tk2', to: 'topic' })).data.hint).toBe('evil.example')
  })

  test('the test button sends a message and reports the result, at most ten times an hour', async () => {
    await using service = await startService((_, response) => response.writeHead(200).end('ok'))
    const { data } = await addHook({ url: `${service.url}/in` }, '', admin.token)
    const send = () => call('POST', `/destination/${data.id}/test`, {}, admin.token)
    expect((await send()).data).toEqual({ ok: true, error: '', elapsed_time: expect.any(Number) })
    expect(JSON.parse(service.requests[0]?.body ?? '')).toMatchObject({
      event: 'test',
      title: 'Tollgate: Test message',
    })
    expect((await send()).message).toContain('Too many')
    for (let count = 0; count < 12; count++) {
      api.time.ms += 3000
      await send()
    }
    expect(service.requests).toHaveLength(10)
    const [listed] = (await call('GET', '/destination', undefined, admin.token)).data
    expect(listed).toMatchObject({ last_error: '', last_time: expect.any(Number) })
  })

  test('a test message of a user is not sent to an address of this machine, and the error is stored', async () => {
    await using service = await startService((_, response) => response.writeHead(200).end('ok'))
    const { data } = await addHook({ url: `${service.url}/in` })
    const { data: result } = await call('POST', `/self/destination/${data.id}/test`, {})
    expect(result).toMatchObject({ ok: false, error: 'The URL leads to an address that is not public.' })
    expect(service.requests).toEqual([])
    expect((await call('GET', '/self/destination')).data[0].last_error).toContain('not public')
  })

  test('a user’s emails go only to the user’s own address; the installation’s emails can go to any address', async () => {
    await using smtp = await startMailServer()
    await mailThrough(api, smtp)
    const own = (await addHook({ kind: 'mail', url: '' })).data
    expect((await call('POST', `/self/destination/${own.id}/test`, {})).data.error).toContain('no email address')
    await api.store.write((trx) =>
      trx.updateTable('users').set({ email: 'ada@example.com' }).where('id', '=', ada.id).execute(),
    )
    api.time.ms += 3000
    expect((await call('POST', `/self/destination/${own.id}/test`, {})).data.ok).toBe(true)
    const ops = (await addHook({ kind: 'mail', url: '', to: 'ops@example.com' }, '', admin.token)).data
    expect(ops.hint).toBe('ops@example.com')
    expect((await call('POST', `/destination/${ops.id}/test`, {}, admin.token)).data.ok).toBe(true)
    expect(smtp.mails.map(({ to }) => to)).toEqual([['ada@example.com'], ['ops@example.com']])
  })

  test('deleting an account deletes its rules, destinations and history', async () => {
    await addRule()
    await addHook()
    const root = await api.addPerson({ username: 'root', role: 100 })
    expect((await api.call('DELETE', `/api/user/${ada.id}`, { as: root.token })).json.success).toBe(true)
    for (const table of ['alert_rules', 'alert_destinations'] as const)
      expect(await api.store.read.selectFrom(table).selectAll().execute()).toEqual([])
  })
})
