// Bodies that cost far more to parse than their size suggests. Anyone can send one to the login endpoint, without an
// account.
import { describe, expect, test } from 'bun:test'
import { forEachDatabase } from '../helpers/databases.ts'
import { type Scene, scene } from './setup.ts'

const list = (count: number, item: string) => `[${Array.from({ length: count }, () => item).join(',')}]`

const shapes: [what: string, value: string, words: string][] = [
  ['many numbers', list(400_000, '0'), 'contains too many values: at most 20000'],
  ['many lists', list(300_000, '[]'), 'contains too many arrays and objects: at most 5000'],
  [
    'many names',
    JSON.stringify(
      Object.fromEntries(Array.from({ length: 9_000 }, (_, at) => [`a name ${at} of many`, 'some value'])),
    ),
    'contains too many different member names: at most 5000',
  ],
  ['many levels', '['.repeat(400_000), 'is nested too deeply: at most 50 levels'],
]

forEachDatabase((kind, openFresh) => {
  // These requests are refused before the database is queried, so one kind of database is enough for this test.
  if (kind !== 'sqlite') return
  let set: Scene
  const root = async () => {
    set ??= await scene(await openFresh())
    return set.person(100)
  }

  describe.each(shapes)('%s are refused before they are parsed', (_, value, words) => {
    test.each([
      ['POST', '/api/user/login'],
      ['POST', '/api/user/register'],
      ['PUT', '/api/option/'],
      ['POST', '/api/channel/'],
      ['PUT', '/api/user/'],
    ])('by %s %s', async (method, path) => {
      const { token } = await root()
      const { json } = await set.api.call(method, path, { as: token, body: `{"username":"x","x":${value}, no JSON` })
      expect(json).toMatchObject({ success: false, message: expect.stringContaining(words) })
    })
  })
})
