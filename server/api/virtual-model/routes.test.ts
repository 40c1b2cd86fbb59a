import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import type { DryRun, VirtualModel } from '../../../contract/api/virtual-model.ts'
import { forEachDatabaseUrl } from '../../../test/helpers/databases.ts'
import { startTestGateway, type TestGateway } from '../../../test/helpers/test-gateway.ts'

forEachDatabaseUrl((name, freshUrl) => {
  let gateway: TestGateway
  let aheadMs = 0
  beforeAll(async () => {
    const clock = { nowMs: () => Date.now() + aheadMs }
    gateway = await startTestGateway({ clock, ...(name === 'postgres' && { databaseUrl: await freshUrl() }) })
    await gateway.setOption('ModelRatio', '{"m":1,"m2":3}')
    await gateway.setOption('CompletionRatio', '{"m":1,"m2":1}')
  }, 120_000)
  afterAll(() => gateway.close())
  beforeEach(async () => {
    // Moves the clock, because calls of the management API are limited per minute.
    aheadMs += 60_000
    for (const { id } of await list()) await gateway.api('DELETE', `/api/virtual-model/${id}`)
    const rows = await gateway.context.store.read.selectFrom('channels').select('id').execute()
    for (const { id } of rows) await gateway.api('DELETE', `/api/channel/${id}`)
  })

  const list = () => gateway.api<VirtualModel[]>('GET', '/api/virtual-model/')
  const create = (fields: object) =>
    gateway.api<VirtualModel>('POST', '/api/virtual-model/', { name: 'best', steps: [{ model: 'm' }], ...fields })
  const update = (fields: object) => gateway.api<VirtualModel>('PUT', '/api/virtual-model/', fields)
  const channel = (fields: object = {}) =>
    gateway.addChannel({ base_url: 'http://127.0.0.1:9', models: 'm', key: 'k', ...fields })
  const dryRun = (fields: object) => gateway.api<DryRun>('POST', '/api/virtual-model/dry-run', fields)
  const audits = async () => {
    const { store } = gateway.context
    return store.read.selectFrom('audit_events').select(['action', 'target', 'detail']).orderBy('id', 'desc').execute()
  }

  describe(`virtual models (${name})`, () => {
    test('a new virtual model has defaults, and is returned as it was stored', async () => {
      const made = await create({ steps: [{ model: ' m ' }, { model: 'm2', group: 'vip', first_token_timeout: 9 }] })
      expect(made).toMatchObject({
        ...{ name: 'best', description: '', price: null, groups: [], enabled: true, stream_rescue: null },
        steps: [
          { model: 'm', group: '', weight: 0, first_token_timeout: 0 },
          { model: 'm2', group: 'vip', weight: 0, first_token_timeout: 9 },
        ],
      })
      expect(made.failures).not.toContain('content_filter')
      expect(made.failures).not.toContain('refusal')
      const changed = await update({ id: made.id, stream_rescue: true, failures: [], groups: ['vip', 'vip'] })
      expect(changed).toMatchObject({ stream_rescue: true, failures: [], groups: ['vip'], steps: made.steps })
      expect(await list()).toEqual([changed])
      expect((await audits()).slice(0, 2).map(({ action }) => action)).toEqual([
        'virtual-model.update',
        'virtual-model.create',
      ])
      // A client can send back a virtual model as it received it.
      expect(await update(changed)).toMatchObject({ name: 'best', groups: ['vip'] })
    })

    test.each([
      [{ name: '' }, 'name'],
      [{ name: 'a,b' }, 'The name must not contain commas or control characters.'],
      [{ name: 'a\nb' }, 'The name must not contain commas or control characters.'],
      [{ name: 'x'.repeat(101) }, 'name may have at most 100 characters'],
      [{ steps: [] }, 'steps'],
      [{ steps: Array.from({ length: 17 }, (_, index) => ({ model: `m${index}` })) }, 'steps'],
      [{ steps: [{ model: 'm' }, { model: 'm' }] }, 'The step m is listed twice.'],
      [{ steps: [{ model: 'm', wieght: 1 }] }, 'wieght'],
      [{ steps: [{ model: 'm', weight: -1 }] }, 'weight'],
      [{ steps: [{ model: 'm', first_token_timeout: 1.5 }] }, 'first_token_timeout'],
      [{ failures: ['nonsense'] }, 'failures'],
      [{ price: {} }, 'Enter a price for input and output, or a price per request.'],
      [{ price: { input: 1 } }, 'Enter a price for input and output, or a price per request.'],
      [{ price: { input: 1, output: -1 } }, 'price.output'],
      [{ price: { request: 0.1234567 } }, 'A price may have at most six decimals.'],
      [{ price: { input: 1, output: 1, tokens: 1 } }, 'tokens'],
      [{ groups: [''] }, 'groups'],
      [{ enabled: 'yes' }, 'enabled'],
      [{ steps: [{ model: 'best' }] }, 'The steps lead in a circle: best → best.'],
    ])('refuses %j', async (fields, message) => {
      const refused = await create(fields).catch((error: Error) => error)
      expect(refused).toBeInstanceOf(Error)
      expect((refused as Error).message).toContain(message)
      expect(await list()).toEqual([])
    })

    test('refuses to create or rename a virtual model to a name that another one has', async () => {
      await create({})
      expect(create({})).rejects.toThrow('There is already a virtual model with the name best.')
      const other = await create({ name: 'other' })
      expect(update({ id: other.id, name: 'best' })).rejects.toThrow('There is already a virtual model')
    })

    test('refuses a change that makes a cycle of virtual models, no matter which of them is changed', async () => {
      const a = await create({ name: 'a', steps: [{ model: 'b' }] })
      await create({ name: 'c', steps: [{ model: 'a' }] })
      expect(create({ name: 'b', steps: [{ model: 'm' }, { model: 'c' }] })).rejects.toThrow(
        'The steps lead in a circle: b → c → a → b.',
      )
      const b = await create({ name: 'b', steps: [{ model: 'm' }] })
      expect(update({ id: b.id, steps: [{ model: 'c' }] })).rejects.toThrow('The steps lead in a circle')
      // Renaming a virtual model can also make a cycle.
      const d = await create({ name: 'd', steps: [{ model: 'e' }] })
      await update({ id: b.id, steps: [{ model: 'd' }] })
      expect(update({ id: d.id, name: 'e' })).rejects.toThrow('The steps lead in a circle: e → e.')
      expect(await update({ id: a.id, enabled: false })).toMatchObject({ enabled: false })
    })

    test('two simultaneous changes cannot form a cycle together', async () => {
      const a = await create({ name: 'a' })
      const b = await create({ name: 'b' })
      const done = await Promise.allSettled([
        update({ id: a.id, steps: [{ model: 'b' }] }),
        update({ id: b.id, steps: [{ model: 'a' }] }),
      ])
      expect(done.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    })

    test('if the database contains a cycle, the list shows a warning, and requests are refused', async () => {
      const { id } = await create({})
      const { store } = gateway.context
      await store.write((trx) =>
        trx
          .updateTable('virtual_models')
          .set({ steps: '[{"model":"best","group":"","weight":0,"first_token_timeout":0}]' })
          .where('id', '=', id)
          .execute(),
      )
      await store.notices.publish({ topic: 'channels', id: 0 })
      const [stored] = await list()
      expect(stored?.warnings).toContainEqual({ kind: 'circle', model: 'best', group: '' })
      const answer = await gateway.post('/v1/chat/completions', {
        model: 'best',
        messages: [{ role: 'user', content: 'Hi' }],
      })
      expect([answer.status, ((await answer.json()) as { error: { code: string } }).error.code]).toEqual([
        503,
        'no_available_channel',
      ])
    })

    test('the response has warnings for steps without a channel or a price, and for a name that hides a real model', async () => {
      await channel({ models: 'm,unpriced' })
      await channel({ models: 'vip-model', group: 'vip' })
      const { warnings } = await create({
        name: 'm',
        steps: [{ model: 'unpriced' }, { model: 'nowhere' }, { model: 'vip-model', group: 'vip' }],
      })
      expect(warnings).toEqual([
        { kind: 'real_model', model: 'm', group: 'default' },
        { kind: 'unpriced', model: 'unpriced', group: '' },
        { kind: 'unserved', model: 'nowhere', group: '' },
        { kind: 'unpriced', model: 'vip-model', group: '' },
      ])
    })

    test('the list of models for a token includes the virtual models that the person may use', async () => {
      await channel()
      await create({})
      await create({ name: 'vip-only', groups: ['vip'] })
      await create({ name: 'off', enabled: false })
      expect(await gateway.api<string[]>('GET', '/api/user/available_models')).toEqual(['best', 'm'])
    })

    test('a virtual model that does not exist can be neither changed nor deleted', async () => {
      expect(gateway.api('DELETE', '/api/virtual-model/999')).rejects.toThrow('This virtual model does not exist.')
      expect(update({ id: 999, enabled: false })).rejects.toThrow('This virtual model does not exist.')
    })
  })

  describe(`a dry run (${name})`, () => {
    test('shows the steps and channels in order, their prices, and the hold, and changes nothing', async () => {
      const [low, high] = [await channel({ name: 'low' }), await channel({ name: 'high', priority: 5 })]
      const second = await channel({ name: 'second', models: 'm2', weight: 3 })
      const same = await channel({ name: 'same', models: 'm2', weight: 1 })
      await create({ steps: [{ model: 'm' }, { model: 'm2' }], failures: ['overloaded'] })
      const run = await dryRun({
        model: 'best',
        request: { messages: [{ role: 'user', content: 'Hi' }], max_tokens: 100 },
      })
      expect(run).toMatchObject({ model: 'best', group: 'default', virtual: true, refusal: null })
      expect(run.steps.map(({ model, place, failures }) => ({ model, place, failures }))).toEqual([
        { model: 'm', place: 1, failures: ['overloaded'] },
        { model: 'm2', place: 2, failures: [] },
      ])
      const [first, other] = run.steps
      expect(first?.channels.map(({ id, place, reason }) => [id, place, reason])).toEqual([
        [high, 1, null],
        [low, 2, null],
      ])
      expect(other?.channels.map(({ id, share }) => [id, share])).toEqual([
        [second, 75],
        [same, 25],
      ])
      expect(other?.channels[0]?.price?.rates.input).toBe(3_000_000)
      expect(run.hold).toBe(other?.channels[0]?.hold ?? 0)
      expect(run.hold).toBeGreaterThan(first?.channels[0]?.hold ?? 0)
      const { store } = gateway.context
      expect(await store.read.selectFrom('holds').selectAll().execute()).toEqual([])
      expect(
        await store.read
          .selectFrom('logs')
          .select('id')
          .where('type', 'in', [2, 6])
          .where('model_name', '=', 'm')
          .execute(),
      ).toEqual([])
    })

    test('gives the reasons why channels and steps are skipped', async () => {
      await channel({ name: 'off' }).then((id) => gateway.api('PUT', '/api/channel/', { id, status: 2 }))
      await channel({ name: 'vip', group: 'vip' })
      await channel({ name: 'draining', draining: true })
      await channel({ name: 'unpriced', model_mapping: '{"m":"unheard-of"}' })
      await channel({ name: 'good' })
      await channel({ name: 'text only', models: 'deepseek-chat' })
      await create({ steps: [{ model: 'deepseek-chat' }, { model: 'nowhere' }, { model: 'm' }] })
      const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } }
      const run = await dryRun({ model: 'best', request: { messages: [{ role: 'user', content: [image] }] } })
      expect(run.steps.map(({ model, place, detail }) => [model, place, detail])).toEqual([
        ['deepseek-chat', 0, 'model deepseek-chat does not read images'],
        ['nowhere', 0, 'no channel can serve the step'],
        ['m', 1, ''],
      ])
      const reasons = run.steps[2]?.channels.map((each) => [each.name, each.place, each.reason])
      expect(reasons).toEqual([
        ['good', 1, null],
        ['unpriced', 0, 'unpriced'],
        ['off', 0, 'disabled'],
        ['vip', 0, 'other_group'],
        ['draining', 0, 'draining'],
      ])
    })

    test('tests a draft that is not saved, even if it is disabled', async () => {
      await channel()
      const draft = { name: 'new', steps: [{ model: 'm' }], enabled: false, price: { request: 0.01 } }
      const run = await dryRun({ draft })
      expect(run).toMatchObject({ model: 'new', virtual: true, hold: 5000, refusal: null })
      expect(run.steps[0]?.fixed_price).toBe(true)
      expect(await list()).toEqual([])
      expect(dryRun({ draft: { ...draft, steps: [{ model: 'new' }] } })).rejects.toThrow('circle')
    })

    test('works for real models, and shows the error if the request cannot be served', async () => {
      await channel()
      expect(await dryRun({ model: 'm' })).toMatchObject({ virtual: false, refusal: null })
      expect(await dryRun({ model: 'm', path: '/v1/messages' })).toMatchObject({ refusal: null })
      expect(await dryRun({ model: 'nowhere' })).toMatchObject({ refusal: { code: 'no_available_channel' }, hold: 0 })
      const wrong = await dryRun({ model: 'm', request: { messages: [], max_tokens: -1 } })
      expect(wrong.refusal?.code).toBe('invalid_field_value')
      expect(dryRun({})).rejects.toThrow('Enter a model.')
      expect(dryRun({ model: 'm', path: '/v1/secret' })).rejects.toThrow('path')
    })

    test('shows which channels are full', async () => {
      const limits = [{ metric: 'calls', window: 'now', most: 2, models: 'm*' }]
      const [full, free] = [await channel({ limits, priority: 5 }), await channel()]
      const { store } = gateway.context
      const { id } = await store.read
        .selectFrom('caps')
        .select('id')
        .where('owner_id', '=', full)
        .executeTakeFirstOrThrow()
      const used = (count: number) =>
        store.write(async (trx) => {
          await trx.deleteFrom('cap_counts').where('cap_id', '=', id).execute()
          await trx.insertInto('cap_counts').values({ cap_id: id, part: '', start: 0, used: count }).execute()
        })
      const places = async () => (await dryRun({ model: 'm' })).steps[0]?.channels.map((each) => [each.id, each.reason])
      await used(1)
      expect(await places()).toEqual([
        [full, null],
        [free, null],
      ])
      await used(2)
      expect(await places()).toEqual([
        [free, null],
        [full, 'full'],
      ])
    })

    test('shows refusals due to the limits or the quota of a token, and does not count as a request', async () => {
      await channel()
      const { store } = gateway.context
      const tried = async (
        quota: { user: number; token?: number },
        fields: Record<string, unknown> = {},
        spent: object = {},
      ) => {
        const { tokenId, userId } = await gateway.addCaller(quota, fields)
        await store.write(async (trx) => {
          if (Object.keys(spent).length > 0)
            await trx.updateTable('tokens').set(spent).where('id', '=', tokenId).execute()
          if ('rpm_limit' in fields) {
            const second = Math.floor((Date.now() + aheadMs) / 1000)
            const now = name === 'postgres' ? Math.floor(Date.now() / 1000) : second
            const minute = { owner: 'token' as const, owner_id: tokenId, second: now, calls: 1, tokens: 5 }
            await trx.insertInto('limit_windows').values(minute).execute()
          }
        })
        const run = await dryRun({ model: 'm', token_id: tokenId })
        const { quota: left } = await gateway.balances(userId, tokenId)
        expect(left).toBe(quota.user)
        return run.refusal?.code
      }
      expect(await tried({ user: 1e6, token: 1e6 })).toBeUndefined()
      expect(await tried({ user: 1e6, token: 0 })).toBe('token_exhausted')
      expect(await tried({ user: 1 })).toBe('insufficient_user_quota')
      expect(await tried({ user: 1e6 }, { models: 'm2' })).toBe('model_not_allowed')
      expect(await tried({ user: 1e6 }, { rpm_limit: 1 })).toBe('rate_limit_exceeded')
      expect(await tried({ user: 1e6 }, { rpm_limit: 2 })).toBeUndefined()
      const spent_at = Math.floor((Date.now() + aheadMs) / 1000)
      expect(await tried({ user: 1e6 }, { daily_budget: 100 }, { spent_today: 99, spent_month: 99, spent_at })).toBe(
        'daily_budget_exceeded',
      )
      expect(await tried({ user: 1e6 }, { status: 2 })).toBe('token_unavailable')
      expect((await dryRun({ model: 'm', token_id: 999_999 })).refusal?.code).toBe('invalid_token')
    })
  })
})
