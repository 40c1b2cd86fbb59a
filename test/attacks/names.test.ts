// Names that can be mistaken for others.
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from 'bun:test'
import { forEachDatabase } from '../helpers/databases.ts'
import { type Attacker, type Scene, scene } from './setup.ts'

setDefaultTimeout(120_000)

forEachDatabase((_, openFresh) => {
  let set: Scene
  let root: Attacker

  beforeEach(async () => {
    set = await scene(await openFresh())
    root = await set.person(100)
  })
  afterEach(() => set.api.store.close())

  const create = async (username: string) =>
    (await set.api.call('POST', '/api/user/', { as: root.token, body: { username, password: 'a good one' } })).json

  test('a name that mixes similar-looking alphabets is refused wherever a name can be set', async () => {
    const person = await set.person()
    for (const mixed of ['аdmin', 'rооt', 'pаypal', 'gοοgle', 'Ѕupport', 'αdmin', 'ꓮdmin', 'вόb', 'аlice.1']) {
      expect({ mixed, ...(await create(mixed)) }).toMatchObject({ mixed, success: false })
      const register = { username: mixed, password: 'a good one' }
      expect((await set.api.call('POST', '/api/user/register', { body: register })).json.success).toBe(false)
      const renamed = await set.api.call('PUT', '/api/user/self', { as: person.token, body: { username: mixed } })
      expect(renamed.json.success).toBe(false)
    }
    expect((await set.rows('users')).length).toBe(2)
  })

  test('names in one alphabet, or in alphabets that do not resemble Latin letters, are accepted', async () => {
    for (const name of ['Иван', 'Ελένη', 'jürgen', '张伟', 'tanaka太郎', 'kim김', 'שרה', 'user_1.b-c', 'ñandú'])
      expect({ name, ...(await create(name)) }).toMatchObject({ name, success: true })
  })

  test('a name that looks exactly like an existing one is refused', async () => {
    expect((await create('coco')).success).toBe(true)
    expect((await create('Harper')).success).toBe(true)
    for (const alike of ['сосо', 'СОСО', 'сосо'.toUpperCase()]) expect((await create(alike)).success).toBe(false)
    expect((await create('марат')).success).toBe(true)
    expect((await create('МАРАТ')).success).toBe(false)
  })
})
