import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { maxQuota } from '../../contract/api/fields.ts'
import { createTestApi, type TestApi } from '../../test/helpers/api-app.ts'
import { forEachDatabase } from '../../test/helpers/databases.ts'

const some = { rpm_limit: 60, tpm_limit: 100_000, concurrency_limit: 3, daily_budget: 500, monthly_budget: 9000 }
const none = { rpm_limit: 0, tpm_limit: 0, concurrency_limit: 0, daily_budget: 0, monthly_budget: 0 }
const bad: [name: string, value: unknown][] = [
  ['rpm_limit', -1],
  ['tpm_limit', 1.5],
  ['concurrency_limit', '3'],
  ['daily_budget', 2 ** 53],
  ['monthly_budget', null],
]

forEachDatabase((_, openFresh) => {
  let api: TestApi
  let root: { id: number; token: string }
  let admin: { id: number; token: string }
  let user: { id: number; token: string }

  beforeEach(async () => {
    api = await createTestApi(await openFresh())
    root = await api.addPerson({ role: 100 })
    admin = await api.addPerson({ role: 10 })
    user = await api.addPerson()
  })
  afterEach(() => api.store.close())

  const send = async (method: string, path: string, body: unknown, as = user) =>
    (await api.call(method, path, { as: as.token, body })).json
  const row = (table: 'users' | 'tokens', id: number) =>
    api.store.read.selectFrom(table).selectAll().where('id', '=', id).executeTakeFirstOrThrow()

  describe('limits of a token', () => {
    test('the owner sets, reads and changes each limit separately', async () => {
      const made = await send('POST', '/api/token/', { name: 'mine', remain_quota: 100, models: 'm', ...some })
      expect(made.data).toMatchObject({ ...some, name: 'mine', spent_today: 0 })
      const { id } = made.data
      expect((await send('PUT', '/api/token/', { id, rpm_limit: 0 })).data).toMatchObject({ ...some, rpm_limit: 0 })
      expect((await send('PUT', '/api/token/', { id, name: 'x' })).data).toMatchObject({ ...some, rpm_limit: 0 })
      const { data } = await send('PUT', '/api/token/', { id, ...none, daily_budget: maxQuota })
      expect(data).toMatchObject({ ...none, daily_budget: maxQuota, remain_quota: 100, models: 'm' })
      await send('PUT', '/api/token/?status_only=true', { id, status: 2, rpm_limit: 7 })
      expect(await row('tokens', id)).toMatchObject({ status: 2, rpm_limit: 0, granted_quota: 100 })
      const list = (await api.call('GET', '/api/token/', { as: user.token })).json.data
      expect(list[0]).toMatchObject({ ...none, daily_budget: maxQuota })
    })

    test('a value that is not a whole number of at least 0 is refused by name, and nothing is changed', async () => {
      const { id } = (await send('POST', '/api/token/', some)).data
      for (const [name, value] of bad) {
        for (const answer of [
          await send('POST', '/api/token/', { [name]: value }),
          await send('PUT', '/api/token/', { id, name: 'new', [name]: value }),
        ]) {
          expect([name, answer.success]).toEqual([name, false])
          expect(answer.message).toContain(name)
        }
      }
      expect(await row('tokens', id)).toMatchObject({ ...some, name: '' })
    })

    test('nobody else can change them', async () => {
      const { id } = (await send('POST', '/api/token/', some)).data
      expect((await send('PUT', '/api/token/', { id, rpm_limit: 0 }, root)).success).toBe(false)
      expect(await row('tokens', id)).toMatchObject(some)
    })

    test('spending is shown for the current day and month', async () => {
      const { id } = (await send('POST', '/api/token/', some)).data
      // The current time is 2023-11-14T22:13:20Z.
      const spent = async (at: string) => {
        const fields = { spent_today: 7, spent_month: 70, spent_at: Date.parse(at) / 1000 }
        await api.store.write((trx) => trx.updateTable('tokens').set(fields).where('id', '=', id).execute())
        await api.store.write((trx) => trx.updateTable('users').set(fields).where('id', '=', user.id).execute())
        const token = (await api.call('GET', `/api/token/${id}`, { as: user.token })).json.data
        const self = (await api.call('GET', '/api/user/self', { as: user.token })).json.data
        expect([self.spent_today, self.spent_month]).toEqual([token.spent_today, token.spent_month])
        return [token.spent_today, token.spent_month]
      }
      expect(await spent('2023-11-14T00:00:00Z')).toEqual([7, 70])
      expect(await spent('2023-11-13T23:59:59Z')).toEqual([0, 70])
      expect(await spent('2023-10-31T23:59:59Z')).toEqual([0, 0])
    })
  })

  describe('limits of a user', () => {
    test('an admin sets each limit separately, and the audit log names the limits', async () => {
      const put = (fields: object, as = admin) => send('PUT', '/api/user/', { id: user.id, ...fields }, as)
      expect((await put(some)).data).toMatchObject({ ...some, quota: 1000 })
      expect((await put({ daily_budget: 0 })).data).toMatchObject({ ...some, daily_budget: 0 })
      expect((await put({ display_name: 'new' })).data).toMatchObject({ ...some, daily_budget: 0, display_name: 'new' })
      const shown = (await api.call('GET', `/api/user/${user.id}`, { as: admin.token })).json.data
      expect(shown).toMatchObject({ ...some, daily_budget: 0 })
      const events = (await api.call('GET', '/api/audit/?action=user.update', { as: root.token })).json.data
      expect(events.at(-1).detail).toContain('rpm_limit=0 → 60')
      for (const [name, value] of bad) expect((await put({ [name]: value })).message).toContain(name)
      expect(api.notices).toContainEqual({ topic: 'user', id: user.id })
    })

    test('people read their own limits and cannot change them', async () => {
      await send('PUT', '/api/user/', { id: user.id, ...some }, admin)
      expect((await send('PUT', '/api/user/self', { display_name: 'me', ...none })).success).toBe(true)
      expect((await send('PUT', '/api/user/', { id: user.id, ...none })).success).toBe(false)
      expect((await api.call('GET', '/api/user/self', { as: user.token })).json.data).toMatchObject({
        ...some,
        display_name: 'me',
      })
      // An admin cannot change the limits of another admin, or their own.
      expect((await send('PUT', '/api/user/', { id: admin.id, ...some }, admin)).success).toBe(false)
      expect((await send('PUT', '/api/user/', { id: admin.id, ...some }, root)).success).toBe(true)
    })
  })

  test('the option with the limits of groups is checked before it is stored', async () => {
    const save = (value: unknown) =>
      send(
        'PUT',
        '/api/option/',
        { key: 'GroupLimits', value: typeof value === 'string' ? value : JSON.stringify(value) },
        root,
      )
    const limits = () => api.settings.current().GroupLimits
    expect((await save({ default: some, vip: { rpm_limit: 5 }, free: {}, constructor: none })).success).toBe(true)
    expect([...limits()]).toEqual([
      ['default', some],
      ['vip', { ...none, rpm_limit: 5 }],
    ])
    for (const [value, word] of [
      ['nonsense', 'JSON object'],
      [[], 'JSON object'],
      [{ vip: 5 }, 'vip'],
      [{ vip: { rpm: 5 } }, '"rpm"'],
      [{ vip: { rpm_limit: -5 } }, 'rpm_limit'],
      [{ vip: { rpm_limit: 0.5 } }, 'rpm_limit'],
      [{ vip: { rpm_limit: '5' } }, 'rpm_limit'],
      [{ vip: { rpm_limit: null } }, 'rpm_limit'],
      ['{"vip":{"rpm_limit":1e300}}', 'rpm_limit'],
    ] as const) {
      const answer = await save(value)
      expect([value, answer.success]).toEqual([value, false])
      expect(answer.message).toContain('GroupLimits')
      expect(answer.message).toContain(word)
    }
    expect(limits().get('vip')).toEqual({ ...none, rpm_limit: 5 })
    expect((await send('PUT', '/api/option/', { key: 'GroupLimits', value: '{}' }, admin)).success).toBe(false)
    // An empty text is refused. An empty object removes all limits.
    expect((await save('')).success).toBe(false)
    expect((await save('{}')).success).toBe(true)
    expect(limits().size).toBe(0)
  })
})
