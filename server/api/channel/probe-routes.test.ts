import { afterEach, beforeEach, expect, test } from 'bun:test'
import { createTestApi, type TestApi } from '../../../test/helpers/api-app.ts'
import { forEachDatabase } from '../../../test/helpers/databases.ts'
import type { ChannelDraft } from '../../jobs/draft-report.ts'
import { nothingCarried } from './stored-carries.ts'

const report = { ok: true, timeMs: 500, message: '', model: 'gpt-4', models: ['gpt-4', 'o3'], modelsMessage: '' }

forEachDatabase((_, openFresh) => {
  let api: TestApi
  let admin: { token: string }
  let root: { token: string }
  let drafts: ChannelDraft[]
  let answer: () => Promise<typeof report>

  beforeEach(async () => {
    drafts = []
    answer = async () => report
    const probeDraft = (draft: ChannelDraft) => {
      drafts.push(draft)
      return answer()
    }
    api = await createTestApi(await openFresh(), { probeDraft })
    admin = await api.addPerson({ role: 10 })
    root = await api.addPerson({ role: 100 })
  })
  afterEach(() => api.store.close())

  const probe = (body: object, as = admin) => api.call('POST', '/api/channel/probe', { as: as.token, body })
  const stored = async () => {
    const body = { type: 1, name: 'one', key: 'sk-stored-key', models: 'gpt-4' }
    return (await api.call('POST', '/api/channel/', { as: admin.token, body })).json.data[0] as number
  }

  test('tests a channel before it is saved, and stores nothing', async () => {
    const { json } = await probe({
      type: 1,
      key: ' sk-new\nsk-other ',
      base_url: 'https://example.com/ ',
      models: 'o3',
    })
    expect(json.data).toEqual({
      ok: true,
      time: 0.5,
      message: '',
      model: 'gpt-4',
      models: ['gpt-4', 'o3'],
      models_message: '',
    })
    expect(drafts).toEqual([
      {
        type: 1,
        key: 'sk-new',
        base_url: 'https://example.com',
        other: '',
        config: '',
        models: 'o3',
        model_mapping: '{}',
        carries: nothingCarried,
        test_model: '',
      },
    ])
    for (const table of ['channels', 'channel_tests', 'logs', 'audit_events', 'access_tokens'] as const)
      expect([table, await api.store.read.selectFrom(table).selectAll().execute()]).toEqual([table, []])
  })

  test('refuses values that a saved channel could not have', async () => {
    const refused = async (body: object) => (await probe({ type: 1, key: 'k', ...body })).json.message
    expect(await refused({ key: ' ' })).toBe('key must not be empty.')
    expect(await refused({ key: 'sk-漢字' })).toContain('not allowed in a header')
    expect(await refused({ type: 999 })).toBe('There is no channel type 999.')
    expect(await refused({ base_url: 'file:///etc/passwd' })).toContain('base_url must be a URL')
    expect(await refused({ base_url: 'http://169.254.169.254/' })).toBe(
      'base_url must not be a cloud metadata service.',
    )
    expect(await refused({ base_url: 'http://a:b@example.com' })).toContain('username or password')
    expect(await refused({ model_mapping: '[1]' })).toBe('model mapping must be valid JSON format!')
    expect(await refused({ config: '{"region":"a.example.com/"}' })).toContain('region')
    expect(await refused({ key: 'x'.repeat(200_001) })).not.toBe('')
    expect(await refused({ id: 999, key: '' })).toBe('Channel not found.')
    expect(await refused({ name: 'x' })).toContain('name')
    expect(drafts).toEqual([])
  })

  test('the key of a stored channel is sent only to a URL to which the same person could move the channel', async () => {
    const id = await stored()
    const elsewhere = { id, type: 1, base_url: 'https://evil.example.com' }
    expect((await probe(elsewhere)).json.message).toBe(
      'Enter the key again. Only a super admin can move a channel to another URL without it.',
    )
    // Another type has another default URL, but changing the type does not allow a URL of the admin's choice.
    expect((await probe({ ...elsewhere, type: 8 })).json.success).toBe(false)
    expect(drafts).toEqual([])
    for (const [body, as] of [
      [{ id, type: 1 }, admin],
      [{ id, type: 1, base_url: 'https://api.openai.com/' }, admin],
      [elsewhere, root],
    ] as const) {
      expect((await probe(body, as)).json.success).toBe(true)
      expect(drafts.at(-1)?.key).toBe('sk-stored-key')
    }
    await probe({ ...elsewhere, key: 'sk-mine' })
    expect(drafts.at(-1)?.key).toBe('sk-mine')
    expect(JSON.stringify(await api.store.read.selectFrom('audit_events').selectAll().execute())).not.toContain('sk-')
  })

  test('a user may have two tests running', async () => {
    const waiting = Promise.withResolvers<typeof report>()
    answer = () => waiting.promise
    const running = [probe({ type: 1, key: 'a' }), probe({ type: 1, key: 'b' })]
    while (drafts.length < 2) await new Promise((resolve) => setTimeout(resolve, 1))
    const third = await probe({ type: 1, key: 'c' })
    expect([third.status, third.json.success]).toEqual([429, false])
    waiting.resolve(report)
    for (const { json } of await Promise.all(running)) expect(json.success).toBe(true)
    expect((await probe({ type: 1, key: 'c' })).json.success).toBe(true)
  })
})
