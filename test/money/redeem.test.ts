// One code, a hundred concurrent users: only one of them gets the quota, on every database and with any number of
// processes.
import { expect, setDefaultTimeout, test } from 'bun:test'
import { createSecrets } from '../../server/lib/secrets/secrets.ts'
import { addUser, updateUser } from '../../server/store/accounts/user-changes.ts'
import { openStore } from '../../server/store/connection/open.ts'
import { balanceFaults } from '../../server/store/ledger/balance-check.ts'
import { migrate } from '../../server/store/migrations/migrate.ts'
import type { Store } from '../../server/store/store.ts'
import { createTestApi } from '../helpers/api-app.ts'
import { forEachDatabaseUrl } from '../helpers/databases.ts'
import { Installation } from '../helpers/gateway-process.ts'

setDefaultTimeout(120_000)

const people = 100
const worth = 12_345

/** Creates accounts that each have an access token. */
async function addPeople(store: Store, hash: (token: string) => string): Promise<string[]> {
  return store.write(async (trx) => {
    const tokens: string[] = []
    for (let number = 0; number < people; number++) {
      const token = `redeemer-access-token-${number}`
      const fields = { username: `r${number}`, display_name: '', password: '', quota: 0, created_time: 0 }
      const id = await addUser(trx, fields)
      await updateUser(trx, id, { access_token_hash: hash(token) })
      tokens.push(token)
    }
    return tokens
  })
}

/**
 * Expects that exactly one response reports success, one balance has the quota, one log row records it, and the audit
 * finds no fault.
 */
async function expectOneWinner(store: Store, answers: { success: boolean; data?: number }[]): Promise<void> {
  expect(answers.filter((each) => each.success)).toEqual([{ success: true, message: '', data: worth } as never])
  expect(answers).toHaveLength(people)
  const rich = await store.read.selectFrom('users').selectAll().where('quota', '=', worth).execute()
  expect(rich).toMatchObject([{ granted_quota: worth }])
  const rest = await store.read.selectFrom('users').select('id').where('quota', '=', 0).execute()
  expect(rest).toHaveLength(people - 1)
  const codes = await store.read.selectFrom('redemptions').selectAll().execute()
  expect(codes).toMatchObject([{ status: 3, redeemed_user_id: rich[0]?.id }])
  const logs = await store.read.selectFrom('logs').selectAll().where('type', '=', 1).execute()
  expect(logs).toMatchObject([{ user_id: rich[0]?.id }])
  expect((await balanceFaults(store)).faults).toEqual([])
}

forEachDatabaseUrl((name, freshUrl) => {
  test('when a hundred people redeem one code at once, exactly one gets the quota', async () => {
    const url = await freshUrl()
    const first = openStore({ url })
    await migrate(first)
    // SQLite is tested with one process and one writer, PostgreSQL with three nodes that have separate pools.
    const stores = name === 'sqlite' ? [first] : [first, openStore({ url }), openStore({ url })]
    try {
      const nodes = await Promise.all(stores.map((store) => createTestApi(store)))
      const [node] = nodes
      if (!node) throw new Error('no node')
      const tokens = await addPeople(first, (token) => node.secrets.fingerprint(token, 'access-token'))
      const admin = await node.addPerson({ role: 10, quota: 1 })
      const body = { name: 'race', quota: worth }
      const [key] = (await node.call('POST', '/api/redemption/', { as: admin.token, body })).json.data
      const answers = await Promise.all(
        tokens.map(async (as, number) => {
          const api = nodes[number % nodes.length] ?? node
          return (await api.call('POST', '/api/user/topup', { as, body: { key } })).json
        }),
      )
      await expectOneWinner(first, answers)
      expect(nodes.flatMap((each) => each.warnings)).toEqual([])
    } finally {
      for (const store of stores) await store.close()
    }
  })

  test('one person who sends the same code many times simultaneously gets the quota once', async () => {
    const store = openStore({ url: await freshUrl() })
    await migrate(store)
    try {
      const api = await createTestApi(store)
      const admin = await api.addPerson({ role: 10 })
      const { token, id } = await api.addPerson({ quota: 0 })
      const keys: string[] = (
        await api.call('POST', '/api/redemption/', { as: admin.token, body: { name: 'n', quota: 10, count: 5 } })
      ).json.data
      const answers = await Promise.all(
        keys.flatMap((key) =>
          Array.from({ length: 8 }, () => api.call('POST', '/api/user/topup', { as: token, body: { key } })),
        ),
      )
      expect(answers.filter(({ json }) => json.success)).toHaveLength(5)
      const row = await store.read.selectFrom('users').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
      expect([row.quota, row.granted_quota]).toEqual([50, 50])
    } finally {
      await store.close()
    }
  })

  test('when people redeem a code simultaneously in its last second, one gets the quota; in the next second, nobody does', async () => {
    const store = openStore({ url: await freshUrl() })
    await migrate(store)
    try {
      const api = await createTestApi(store)
      const admin = await api.addPerson({ role: 10, quota: 0 })
      const pair = [await api.addPerson({ quota: 0 }), await api.addPerson({ quota: 0 })]
      const expired_time = Math.floor(api.time.ms / 1000) + 10
      const body = { name: 'n', quota: 10, count: 2, expired_time }
      const keys: string[] = (await api.call('POST', '/api/redemption/', { as: admin.token, body })).json.data
      const both = (key: string | undefined) =>
        Promise.all(
          [...pair, ...pair].map(
            async ({ token }) => (await api.call('POST', '/api/user/topup', { as: token, body: { key } })).json,
          ),
        )
      api.time.ms = expired_time * 1000
      const last = await both(keys[0])
      expect(last.filter(({ success }) => success)).toHaveLength(1)
      expect(last.filter(({ code }) => code === 'code_used')).toHaveLength(3)
      api.time.ms += 1000
      expect((await both(keys[1])).map(({ code }) => code)).toEqual(Array(4).fill('code_expired'))
      const { sum } = await store.read
        .selectFrom('users')
        .select((eb) => eb.fn.sum<number>('quota').as('sum'))
        .executeTakeFirstOrThrow()
      expect(Number(sum)).toBe(10)
      expect((await balanceFaults(store)).faults).toEqual([])
    } finally {
      await store.close()
    }
  })

  test('a code is either redeemed or withdrawn, but never both', async () => {
    const store = openStore({ url: await freshUrl() })
    await migrate(store)
    try {
      const api = await createTestApi(store)
      const admin = await api.addPerson({ role: 10 })
      const { token, id } = await api.addPerson({ quota: 0 })
      const made = { as: admin.token, body: { name: 'n', quota: 10, count: 20 } }
      const keys: string[] = (await api.call('POST', '/api/redemption/', made)).json.data
      const rows = (await api.call('GET', '/api/redemption/?size=100', { as: admin.token })).json.data
      const outcomes = await Promise.all(
        keys.map(async (key) => {
          const row = rows.find((each: { key: string }) => each.key === key)
          const withdraw = { as: admin.token, body: { id: row.id, status: 2 } }
          const [got, gone] = await Promise.all([
            api.call('POST', '/api/user/topup', { as: token, body: { key } }),
            api.call('PUT', '/api/redemption/?status_only=true', withdraw),
          ])
          return [got.json.success, gone.json.success]
        }),
      )
      for (const [got, gone] of outcomes) expect(got).toBe(!gone)
      const row = await store.read.selectFrom('users').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
      expect(row.quota).toBe(10 * outcomes.filter(([got]) => got).length)
    } finally {
      await store.close()
    }
  })

  if (name === 'postgres') {
    test('when a hundred people redeem one code through three processes, exactly one gets the quota', async () => {
      const secretKey = 'secret key of the three processes'
      await using installation = new Installation(await freshUrl(), { SECRET_KEY: secretKey })
      const gateways = [
        await installation.start(),
        ...(await Promise.all([installation.start(), installation.start()])),
      ]
      const store = openStore({ url: installation.databaseUrl })
      try {
        const secrets = createSecrets(secretKey)
        const tokens = await addPeople(store, (token) => secrets.fingerprint(token, 'access-token'))
        const [key] =
          (await gateways[0]?.api<string[]>('POST', '/api/redemption/', { name: 'race', quota: worth })) ?? []
        const answers = await Promise.all(
          tokens.map(async (token, number) => {
            const response = await fetch(`${gateways[number % 3]?.url}/api/user/topup`, {
              method: 'POST',
              headers: { authorization: token },
              body: JSON.stringify({ key }),
            })
            return (await response.json()) as { success: boolean }
          }),
        )
        await expectOneWinner(store, answers)
      } finally {
        await store.close()
      }
    })
  }
})
