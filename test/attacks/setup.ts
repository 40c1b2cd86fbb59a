import { hashPassword } from '../../server/lib/secrets/password.ts'
import type { Store } from '../../server/store/store.ts'
import { cookieOf, createTestApi, type TestApi } from '../helpers/api-app.ts'

export const password = 'correct horse'
const hashed = hashPassword(password)

/** An attacker with an account, a password and an access token. */
export interface Attacker {
  id: number
  username: string
  token: string
}

/** The management API and users of every role. */
export interface Scene {
  api: TestApi
  person(role?: number, quota?: number): Promise<Attacker>
  /** The cookie of a new session. */
  session(person: { username: string }): Promise<string>
  /** All rows of a table. */
  rows(
    table: 'users' | 'tokens' | 'channels' | 'redemptions' | 'options' | 'sessions' | 'logs' | 'one_time_codes',
  ): Promise<Record<string, unknown>[]>
}

/** Creates the scene on a fresh database. */
export async function scene(store: Store, overrides: Parameters<typeof createTestApi>[1] = {}): Promise<Scene> {
  const api = await createTestApi(store, overrides)
  const hash = await hashed
  return {
    api,
    person: (role = 1, quota = 1000) => api.addPerson({ role, quota, password: hash }),
    session: async ({ username }) =>
      cookieOf(await api.call('POST', '/api/user/login', { body: { username, password } })),
    rows: async (table) => {
      const found = await store.read.selectFrom(table).selectAll().execute()
      return found.map((row) => ({ ...row })).sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))
    },
  }
}

/** Creates a token as `owner`, and a channel and a redemption code as `admin`, all through the API. */
export async function belongings(set: Scene, owner: Attacker, admin: Attacker) {
  const { api } = set
  const made = async (path: string, body: unknown, as: string) => {
    const { json } = await api.call('POST', path, { as, body })
    if (!json.success) throw new Error(`${path}: ${json.message}`)
    return json.data
  }
  const token = (await made('/api/token/', { name: 'mine', remain_quota: 50 }, owner.token)) as {
    id: number
    key: string
  }
  const channel = { type: 1, name: 'upstream', key: 'sk-upstream', models: 'gpt-4o', base_url: 'http://127.0.0.1:1' }
  const [channelId] = (await made('/api/channel/', channel, admin.token)) as number[]
  const [code] = (await made('/api/redemption/', { name: 'gift', quota: 70 }, admin.token)) as string[]
  const [redemption] = (await api.call('GET', '/api/redemption/?p=0', { as: admin.token })).json.data as {
    id: number
  }[]
  return { token, channelId: channelId ?? 0, code: code ?? '', redemptionId: redemption?.id ?? 0 }
}
