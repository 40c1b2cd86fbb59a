import { expect } from 'bun:test'
import { expectPage, expectRecord } from './shapes.ts'
import type { Person, Walk } from './walker.ts'

/** The user's own tokens. */
export async function walkTokens(walk: Walk, owner: Person, other: Person): Promise<void> {
  const empty = await walk.ok('GET /api/token/?p={p}', { p: 0 }, undefined, owner)
  expect(empty).toEqual([])
  const body = (number: number) => ({
    name: `t${number}`,
    remain_quota: 500_000,
    expired_time: -1,
    unlimited_quota: number % 2 === 0,
  })
  for (let number = 0; number < 11; number++) {
    const created = await walk.call('POST /api/token/', {}, body(number), owner)
    expect(created.json).toMatchObject({ success: true, message: '' })
  }
  await walk.refused('POST /api/token/', {}, { ...body(1), name: 'n'.repeat(31) }, owner)
  await walk.refused('POST /api/token/', {}, { ...body(1), remain_quota: -1 }, owner)
  // An empty quota box is sent as null.
  await walk.call('POST /api/token/', {}, { ...body(1), name: 'empty box', remain_quota: null }, owner)

  const page = await walk.ok('GET /api/token/?p={p}', { p: 0 }, undefined, owner)
  expectPage('token', page)
  expect(page).toHaveLength(10)
  expect(page[0]).toMatchObject({ name: 'empty box', remain_quota: 0, status: 1, expired_time: -1 })
  expect(page[1].key).toMatch(/^[A-Za-z0-9]{48}$/)
  expectPage('token', await walk.ok('GET /api/token/?p={p}', { p: 1 }, undefined, owner))
  expect(await walk.ok('GET /api/token/?p={p}', { p: 1 }, undefined, owner)).toHaveLength(2)

  const found = await walk.ok('GET /api/token/search?keyword={keyword}', { keyword: 't1' }, undefined, owner)
  expect(found.map(({ name }: { name: string }) => name).sort()).toEqual(['t1', 't10'])
  for (const token of found) expectRecord('token', token)

  const { id } = page[1]
  const one = await walk.ok('GET /api/token/{id}', { id }, undefined, owner)
  expectRecord('token', one)
  await walk.refused('GET /api/token/{id}', { id }, undefined, other)

  const changed = await walk.ok(
    'PUT /api/token/',
    {},
    { ...one, name: 'renamed', remain_quota: 7, unlimited_quota: false },
    owner,
  )
  expectRecord('token', changed)
  expect(changed).toMatchObject({ id, name: 'renamed', remain_quota: 7, unlimited_quota: false, key: one.key })
  for (const status of [2, 1]) {
    const toggled = await walk.ok('PUT /api/token/?status_only=true', {}, { id, status }, owner)
    expectRecord('token', toggled)
    expect(toggled).toEqual({ ...changed, status })
  }
  await walk.refused('PUT /api/token/?status_only=true', {}, { id, status: 4 }, owner)
  await walk.refused('PUT /api/token/', {}, { ...one, name: 'stolen' }, other)

  await walk.refused('DELETE /api/token/{id}/', { id }, undefined, other)
  expect(await walk.ok('DELETE /api/token/{id}/', { id }, undefined, owner)).toBeUndefined()
  await walk.refused('GET /api/token/{id}', { id }, undefined, owner)
  for (let left = page; left.length > 0; left = await walk.ok('GET /api/token/?p={p}', { p: 0 }, undefined, owner)) {
    for (const token of left) await walk.call('DELETE /api/token/{id}/', { id: token.id }, undefined, owner)
  }
}

/** Redemption codes and their redemption. */
export async function walkRedemptions(walk: Walk, admin: Person, person: Person): Promise<void> {
  const name = `gift ${walk.mark}`
  const keys = await walk.ok('POST /api/redemption/', {}, { name, quota: 100, count: 11 }, admin)
  expect(keys).toHaveLength(11)
  for (const key of keys) expect(key).toMatch(/^[0-9a-f]{32}$/)
  await walk.refused('POST /api/redemption/', {}, { name: 'n'.repeat(21), quota: 100, count: 1 }, admin)
  await walk.refused('POST /api/redemption/', {}, { name, quota: 100, count: 101 }, admin)
  await walk.refused('POST /api/redemption/', {}, { name, quota: -5, count: 1 }, admin)

  const page = await walk.ok('GET /api/redemption/?p={p}', { p: 0 }, undefined, admin)
  expectPage('redemption', page)
  expect(page).toHaveLength(10)
  const found = await walk.ok('GET /api/redemption/search?keyword={keyword}', { keyword: name }, undefined, admin)
  expect(found).toHaveLength(11)
  for (const code of found) expectRecord('redemption', code)

  const { id } = page[0]
  const one = await walk.ok('GET /api/redemption/{id}', { id }, undefined, admin)
  expectRecord('redemption', one)
  expect(one).toMatchObject({ status: 1, quota: 100, redeemed_time: 0, count: 0, name })
  const changed = await walk.ok('PUT /api/redemption/', {}, { ...one, name: 'renamed', quota: 250 }, admin)
  expect(changed).toEqual({ ...one, name: 'renamed', quota: 250 })
  for (const status of [2, 1]) {
    const toggled = await walk.ok('PUT /api/redemption/?status_only=true', {}, { id, status }, admin)
    expect(toggled).toEqual({ ...changed, status })
  }

  const before = (await walk.ok('GET /api/user/self', {}, undefined, person)).quota
  expect(await walk.ok('POST /api/user/topup', {}, { key: one.key }, person)).toBe(250)
  expect((await walk.ok('GET /api/user/self', {}, undefined, person)).quota).toBe(before + 250)
  await walk.refused('POST /api/user/topup', {}, { key: one.key }, person)
  await walk.refused('POST /api/user/topup', {}, { key: 'no such code' }, person)
  await walk.refused('POST /api/user/topup', {}, { key: '' }, person)
  const used = await walk.ok('GET /api/redemption/{id}', { id }, undefined, admin)
  expect(used.status).toBe(3)
  expect(used.redeemed_time).toBeGreaterThan(1_700_000_000)
  await walk.refused('PUT /api/redemption/?status_only=true', {}, { id, status: 1 }, admin)

  expect(await walk.ok('DELETE /api/redemption/{id}/', { id }, undefined, admin)).toBeUndefined()
  await walk.refused('GET /api/redemption/{id}', { id }, undefined, admin)
}
