import { afterAll, describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import type { ImportReport } from '../../contract/api/import.ts'
import { openStore } from '../../server/store/connection/open.ts'
import { forEachDatabaseUrl } from '../helpers/databases.ts'
import { ok, startFakeUpstream } from '../helpers/fake-upstream.ts'
import { type GatewayProcess, Installation } from '../helpers/gateway-process.ts'
import { type Mariadb, mariadbMissing, startMariadb } from '../helpers/mariadb.ts'
import { newPostgresDatabase, postgresMissing } from '../helpers/postgres.ts'
import { loadPostgresDump } from '../helpers/postgres-dump.ts'
import { type Facts, factsOf, type Sample, sampleFile, samples } from './samples.ts'

let mariadb: Promise<Mariadb> | undefined
afterAll(async () => (await mariadb)?.[Symbol.asyncDispose]())
let loaded = 0

/** The URL or path from which the sample is imported. */
async function addressOf({ name, database }: Sample): Promise<string> {
  if (database === 'sqlite') return sampleFile(name, 'one-api.db') ?? ''
  const dump = readFileSync(sampleFile(name, 'dump.sql') ?? '', 'utf8')
  if (database === 'mysql') {
    mariadb ??= startMariadb()
    return (await mariadb).load(`sample${++loaded}`, dump)
  }
  const { url } = await newPostgresDatabase()
  await loadPostgresDump(url, dump)
  return url
}

function missing({ name, database }: Sample): string | undefined {
  if (!sampleFile(name, database === 'sqlite' ? 'one-api.db' : 'dump.sql'))
    return 'the samples are not here, set MIGRATION_DIR'
  if (database === 'mysql') return mariadbMissing
  return database === 'postgres' ? postgresMissing : undefined
}

async function imported(installation: Installation, ...args: string[]): Promise<ImportReport> {
  const { code, output } = await installation.run('import', ...args, '--json')
  const line = output.split('\n').find((each) => each.startsWith('{'))
  if (line === undefined) throw new Error(output)
  expect(code).toBe(0)
  return JSON.parse(line) as ImportReport
}

const sum = (report: ImportReport, name: string) => report.sums.find((each) => each.name === name)

forEachDatabaseUrl((target, freshUrl) => {
  for (const sample of samples) {
    const reason = missing(sample)
    if (reason !== undefined) {
      test.skip(`${sample.name} (${reason})`, () => undefined)
      continue
    }
    describe(sample.name, () => {
      test('is imported with the right sums, and its accounts and tokens work', async () => {
        const facts = factsOf(sample.name)
        await using upstream = await startFakeUpstream()
        upstream.always(ok({ text: 'a a a a', promptTokens: 10 }))
        await using installation = new Installation(target === 'postgres' ? await freshUrl() : undefined)
        await installation.create()
        const from = await addressOf(sample)

        const dry = await imported(installation, '--from', from, '--dry-run')
        expect(dry.added).toMatchObject({ users: sample.expected.users, channels: 9 })
        const store = openStore({ url: installation.databaseUrl })
        expect(await store.read.selectFrom('users').select('username').execute()).toEqual([{ username: 'root' }])
        expect(await store.read.selectFrom('imports').select('id').execute()).toEqual([])

        const report = await imported(installation, '--from', from)
        checkSums(report, sample)
        const users = await store.read.selectFrom('users').select(['role', 'quota']).execute()
        const others = users.filter(({ role }) => role < 100).reduce((all, { quota }) => all + quota, 0)
        expect(others).toBe(sample.expected.quotaButRoot)
        const audit = await installation.run('audit')
        expect(audit.output).toContain('0 faults.')

        const again = await imported(installation, '--from', from)
        expect(again).toMatchObject({ mode: 'again', added: { users: 0, tokens: 0, channels: 0, codes: 0, logs: 0 } })

        await store.write((trx) =>
          trx
            .updateTable('channels')
            .set({ base_url: upstream.url })
            .where('base_url', 'like', `${facts.upstream}%`)
            .execute(),
        )
        await store.close()
        const gateway = await installation.start()
        await useIt(gateway, sample, facts)
        expect(upstream.requests.at(-1)?.headers.get('authorization')).toMatch(/^Bearer sk-up-[0-9a-f]{24}$/)
        await gateway.stop()
        expect((await installation.run('audit')).output).toContain('0 faults.')
      }, 180_000)
    })
  }
})

function checkSums(report: ImportReport, { expected }: Sample): void {
  for (const { name, there, corrected, here } of report.sums) expect([name, here]).toEqual([name, there + corrected])
  expect(sum(report, 'users')?.here).toBe(expected.users)
  expect(sum(report, 'used quota of users')?.here).toBe(expected.used)
  expect(sum(report, 'tokens')?.here).toBe(expected.tokens)
  if (expected.tokenUsed !== undefined) expect(sum(report, 'used quota of tokens')?.here).toBe(expected.tokenUsed)
  expect(sum(report, 'channels')?.here).toBe(expected.channels)
  expect(sum(report, 'codes, unused')?.here).toBe(1)
  expect(sum(report, 'codes, disabled')?.here).toBe(1)
  expect(sum(report, 'codes, used')?.here).toBe(2)
  expect(sum(report, 'charges')?.here).toBe(expected.charges)
  expect(sum(report, 'quota of charges')?.here).toBe(expected.charged)
}

/** Uses the installation with the imported accounts and tokens. */
async function useIt(gateway: GatewayProcess, sample: Sample, facts: Facts): Promise<void> {
  const owner = facts.tokens.find(({ name }) => name === 'main')?.user ?? ''
  const admin = facts.accounts.find((account) => account.access_token !== undefined)
  const person = await loggedIn(gateway, facts, owner)
  const keyOf = (user: string) => facts.tokens.find((each) => each.user === user && each.name === 'main')?.key ?? ''
  const call = (key: string) =>
    gateway.post('/v1/chat/completions', { model: 'my-own-model', messages: [{ role: 'user', content: 'hi' }] }, key)

  const before = (await person<Self>('GET', '/api/user/self')).data
  const answered = await call(`sk-${keyOf(owner)}`)
  expect([answered.status, await answered.text()]).toEqual([200, expect.stringContaining('a a a a')])
  const after = (await person<Self>('GET', '/api/user/self')).data
  const ratio = (JSON.parse(facts.options['ModelRatio'] ?? '{}') as Record<string, number>)['my-own-model'] ?? 0
  // The call has 10 prompt tokens and 4 completion tokens, which cost 2.5 times as much. one-hub has no price for the
  // model, so each token costs 30 units.
  const charge = sample.name.startsWith('one-hub') ? 14 * 30 : Math.ceil(ratio * (10 + 4 * 2.5))
  expect([before.quota - after.quota, after.used_quota - before.used_quota]).toEqual([charge, charge])

  expect((await call(`sk-${keyOf(owner)}-1`)).status).toBe(403)
  expect((await call(`sk-${keyOf(admin?.username ?? '')}-1`)).status).toBe(200)
  const banned = sample.expected.users === 7 ? 'frank' : 'mike'
  expect((await call(`sk-${keyOf(banned)}`)).status).toBe(403)
  const self = await fetch(`${gateway.url}/api/user/self`, { headers: { authorization: admin?.access_token ?? '' } })
  expect(await self.json()).toMatchObject({ data: { username: admin?.username, role: 10 } })

  for (const { code, quota, state } of facts.codes) {
    const redeemed = await person<number>('POST', '/api/user/topup', { key: code })
    expect([state, redeemed.success]).toEqual([state, state === 'unused'])
    if (redeemed.success) expect(redeemed.data).toBe(quota)
  }
  const logs = await gateway.api<{ username: string; quota: number; token_name: string }[]>(
    'GET',
    `/api/log/?type=2&username=${owner}&p=0`,
  )
  expect(logs[0]).toMatchObject({ username: owner, token_name: 'main', quota: charge })
  expect(logs.length).toBeGreaterThan(1)
}

interface Self {
  quota: number
  used_quota: number
}

/** Logs a person in with the old password, and returns how to make calls as that person. */
async function loggedIn(gateway: GatewayProcess, facts: Facts, username: string) {
  const account = facts.accounts.find((each) => each.username === username)
  const login = await fetch(`${gateway.url}/api/user/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ username, password: account?.password }),
  })
  expect(await login.json()).toMatchObject({ success: true })
  const cookie = login.headers.get('set-cookie')?.split(';')[0] ?? ''
  return async <T>(method: string, path: string, body?: unknown) => {
    const response = await fetch(gateway.url + path, {
      method,
      headers: { cookie, origin: gateway.url, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    return (await response.json()) as { success: boolean; message: string; data: T }
  }
}
