import { expect } from 'bun:test'
import { expectPage, expectRecord } from './shapes.ts'
import type { Person, Walk } from './walker.ts'

const password = 'a good password'

/** The calls with which admins manage accounts. */
export async function walkUsers(walk: Walk, admin: Person): Promise<void> {
  const name = (number: number) => `m${walk.mark}${String(number).padStart(2, '0')}`
  const made: number[] = []
  for (let number = 0; number < 12; number++) {
    const created = await walk.call(
      'POST /api/user/',
      {},
      { username: name(number), display_name: 'M', password },
      admin,
    )
    expect(created.json).toMatchObject({ success: true, message: '' })
  }
  await walk.refused('POST /api/user/', {}, { username: name(0), display_name: 'M', password }, admin)
  await walk.refused('POST /api/user/', {}, { username: 'short', password: '1234567' }, admin)

  const page = await walk.ok('GET /api/user/?p={p}', { p: 0 }, undefined, admin)
  expectPage('user', page)
  expect(page).toHaveLength(10)
  expect(page.map((user: { username: string }) => user.username)).toEqual(
    Array.from({ length: 10 }, (_, at) => name(11 - at)),
  )
  const second = await walk.ok('GET /api/user/?p={p}', { p: 1 }, undefined, admin)
  expectPage('user', second)
  expect(second[0].username).toBe(name(1))
  expect(await walk.ok('GET /api/user/?p={p}', { p: 1000 }, undefined, admin)).toEqual([])

  const found = await walk.ok('GET /api/user/search?keyword={keyword}', { keyword: `m${walk.mark}` }, undefined, admin)
  expect(found).toHaveLength(12)
  for (const user of found) {
    expectRecord('user', user)
    made.push(user.id)
  }
  const id = made[0] ?? 0
  const one = await walk.ok('GET /api/user/{id}', { id }, undefined, admin)
  expectRecord('user', one)
  expect(one).toMatchObject({ id, role: 1, status: 1, group: 'default' })
  await walk.refused('GET /api/user/{id}', { id: 1 }, undefined, admin)
  await walk.refused('GET /api/user/{id}', { id: 999_999 }, undefined, admin)
  await walk.refused('GET /api/user/{id}', { id: 'x' }, undefined, admin)
  await walkUpdate(walk, admin, one)
  await walkManage(walk, admin, name(3))

  // one-api's response to this call has an empty body, so clients cannot expect any data in it.
  expect(await walk.ok('DELETE /api/user/{id}', { id: made[5] ?? 0 }, undefined, admin)).toBeUndefined()
  await walk.refused('DELETE /api/user/{id}', { id: made[5] ?? 0 }, undefined, admin)
  for (const gone of made.filter((each) => each !== made[5] && each !== id)) {
    await walk.call('DELETE /api/user/{id}', { id: gone }, undefined, admin)
  }
}

/** Sends the whole object back with changes, as the console does. */
async function walkUpdate(walk: Walk, admin: Person, one: { id: number; username: string }): Promise<void> {
  const edited = { ...one, display_name: 'Edited', password: '', group: 'vip', quota: 4242 }
  const answer = await walk.call('PUT /api/user/', {}, edited, admin)
  expect(answer.json).toMatchObject({ success: true, message: '' })
  const { id } = one
  expect(await walk.ok('GET /api/user/{id}', { id }, undefined, admin)).toMatchObject({
    display_name: 'Edited',
    group: 'vip',
    quota: 4242,
    role: 1,
    status: 1,
  })
  await walk.call('PUT /api/user/', {}, { ...edited, quota: 0 }, admin)
  expect(await walk.ok('GET /api/user/{id}', { id }, undefined, admin)).toMatchObject({ quota: 0 })
  await walk.refused('PUT /api/user/', {}, { ...edited, quota: -1 }, admin)
  await walk.refused('PUT /api/user/', {}, { ...edited, quota: '5' }, admin)
  await walk.refused('PUT /api/user/', {}, { ...edited, role: 10 }, admin)
  await walk.refused('PUT /api/user/', {}, { id: 1, display_name: 'x' }, admin)
}

async function walkManage(walk: Walk, admin: Person, username: string): Promise<void> {
  const manage = async (action: string, as: Person) => {
    const data = await walk.ok('POST /api/user/manage', {}, { username, action }, as)
    expect([typeof data.status, typeof data.role]).toEqual(['number', 'number'])
    return { status: data.status, role: data.role }
  }
  expect(await manage('disable', admin)).toEqual({ status: 2, role: 1 })
  expect(await manage('enable', admin)).toEqual({ status: 1, role: 1 })
  await walk.refused('POST /api/user/manage', {}, { username, action: 'promote' }, admin)
  expect(await manage('promote', walk.root)).toEqual({ status: 1, role: 10 })
  await walk.refused('POST /api/user/manage', {}, { username, action: 'disable' }, admin)
  expect(await manage('demote', walk.root)).toEqual({ status: 1, role: 1 })
  await walk.refused('POST /api/user/manage', {}, { username, action: 'bless' }, admin)
  await walk.refused('POST /api/user/manage', {}, { username: 'root', action: 'disable' }, walk.root)
  await walk.refused('POST /api/user/manage', {}, { username: 'nobody', action: 'disable' }, admin)
  const deleted = await walk.ok('POST /api/user/manage', {}, { username, action: 'delete' }, admin)
  expect([typeof deleted.status, typeof deleted.role]).toEqual(['number', 'number'])
  expect(await walk.ok('GET /api/user/search?keyword={keyword}', { keyword: username }, undefined, admin)).toEqual([])
}
