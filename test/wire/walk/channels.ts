import { expect } from 'bun:test'
import { expectPage, expectRecord } from './shapes.ts'
import type { Person, Walk } from './walker.ts'

/** Channels: creating, listing, editing and testing them, and reading their balances. */
export async function walkChannels(walk: Walk, admin: Person): Promise<void> {
  const name = `ch${walk.mark}`
  // The form as the console sends it: with `groups` in addition to `group`, and with fields that were left empty.
  const form = {
    name,
    type: 1,
    key: 'upstream-key-1\n\nupstream-key-2\n',
    base_url: walk.services.upstream.url,
    other: '',
    model_mapping: '{}',
    models: 'gpt-4o,gpt-4o-mini',
    groups: ['default'],
    group: 'default',
  }
  const created = await walk.call('POST /api/channel/', {}, form, admin)
  expect(created.json).toMatchObject({ success: true, message: '' })
  await walk.refused('POST /api/channel/', {}, { ...form, name: '' }, admin)
  await walk.refused('POST /api/channel/', {}, { ...form, models: '' }, admin)
  await walk.refused('POST /api/channel/', {}, { ...form, model_mapping: '{' }, admin)
  await walk.call('POST /api/channel/', {}, { ...form, name: 'batch', key: Array(10).fill('k').join('\n') }, admin)

  const page = await walk.ok('GET /api/channel/?p={p}', { p: 0 }, undefined, admin)
  expectPage('channel', page)
  expect(page).toHaveLength(10)
  expectPage('channel', await walk.ok('GET /api/channel/?p={p}', { p: 1 }, undefined, admin))
  expect(await walk.ok('GET /api/channel/?p={p}', { p: 999 }, undefined, admin)).toEqual([])
  const found = await walk.ok('GET /api/channel/search?keyword={keyword}', { keyword: name }, undefined, admin)
  // Each line of the key creates one channel.
  expect(found).toHaveLength(2)
  for (const channel of found) expectRecord('channel', channel)

  const { id } = found[0]
  const one = await walk.ok('GET /api/channel/{id}', { id }, undefined, admin)
  expectRecord('channel', one)
  expect(one).toMatchObject({ name, type: 1, key: '', status: 1, balance: 0, response_time: 0, test_time: 0 })
  await walkEdit(walk, admin, one)
  await walkTests(walk, admin, id)

  const models = await walk.call('GET /api/channel/models', {}, undefined, admin)
  expect(Object.keys(models.json).sort()).toEqual(['data', 'object'])
  expect(models.json.object).toBe('list')
  expect(models.json.data.length).toBeGreaterThan(20)
  for (const model of models.json.data) {
    expect(Object.keys(model).sort()).toEqual(['created', 'id', 'object', 'owned_by', 'parent', 'permission', 'root'])
    expect([typeof model.id, model.object, model.root]).toEqual(['string', 'model', model.id])
  }

  expect(await walk.ok('DELETE /api/channel/{id}/', { id }, undefined, admin)).toBeUndefined()
  await walk.refused('GET /api/channel/{id}', { id }, undefined, admin)
  for (let left = page; left.length > 0; left = await walk.ok('GET /api/channel/?p={p}', { p: 0 }, undefined, admin)) {
    for (const channel of left) await walk.call('DELETE /api/channel/{id}/', { id: channel.id }, undefined, admin)
  }
}

async function walkEdit(walk: Walk, admin: Person, one: Record<string, unknown> & { id: number }): Promise<void> {
  const { id } = one
  const edited = await walk.ok(
    'PUT /api/channel/',
    {},
    { ...one, groups: ['default'], name: `${String(one['name'])}-e` },
    admin,
  )
  expectRecord('channel', edited)
  expect(edited).toEqual({ ...one, name: `${String(one['name'])}-e` })
  for (const status of [2, 1]) {
    const toggled = await walk.ok('PUT /api/channel/', {}, { id, status }, admin)
    expectRecord('channel', toggled)
    expect(toggled).toEqual({ ...edited, status })
  }
  await walk.refused('PUT /api/channel/', {}, { id, status: 9 }, admin)
  await walk.refused('PUT /api/channel/', {}, { id: 999_999, status: 1 }, admin)
}

/** Tests of channels and their balances. Two of these responses have a number at the top level, beside `success`. */
async function walkTests(walk: Walk, admin: Person, id: number): Promise<void> {
  const tested = await walk.call('GET /api/channel/test/{id}/', { id }, undefined, admin)
  expect(tested.json).toEqual({ success: true, message: '', time: expect.any(Number) })
  expect(tested.json.time).toBeGreaterThanOrEqual(0)
  expect(tested.json.time).toBeLessThan(60)
  const failed = await walk.call('GET /api/channel/test/{id}/', { id: 999_999 }, undefined, admin)
  expect(failed.json).toMatchObject({ success: false, message: expect.any(String), time: 0 })
  const shown = await walk.ok('GET /api/channel/{id}', { id }, undefined, admin)
  expect(shown.test_time).toBeGreaterThan(1_700_000_000)
  expect(shown.response_time).toBe(Math.round(tested.json.time * 1000))

  const balance = await walk.call('GET /api/channel/update_balance/{id}/', { id }, undefined, admin)
  expect(balance.json).toEqual({ success: true, message: '', balance: expect.any(Number) })
  expect(await walk.ok('GET /api/channel/{id}', { id }, undefined, admin)).toMatchObject({
    balance: balance.json.balance,
  })
  const unknown = await walk.call('GET /api/channel/update_balance/{id}/', { id: 999_999 }, undefined, admin)
  expect(unknown.json).toMatchObject({ success: false, message: expect.any(String), balance: 0 })

  expect(await walk.ok('GET /api/channel/update_balance', {}, undefined, admin)).toBeUndefined()
  expect(await walk.ok('GET /api/channel/test', {}, undefined, admin)).toBeUndefined()
  while ((await walk.fetch('GET', '/api/channel/test/progress', undefined, admin.headers)).json.data.running)
    await new Promise((resolve) => setTimeout(resolve, 20))
}
