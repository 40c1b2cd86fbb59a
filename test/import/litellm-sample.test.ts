import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { openStore } from '../../server/store/connection/open.ts'
import { forEachDatabaseUrl } from '../helpers/databases.ts'
import { ok, startFakeUpstream } from '../helpers/fake-upstream.ts'
import { Installation } from '../helpers/gateway-process.ts'
import { newPostgresDatabase, postgresMissing } from '../helpers/postgres.ts'
import { loadPostgresDump } from '../helpers/postgres-dump.ts'
import { imported, sum } from './imported.ts'
import { sha256 } from './litellm-samples.ts'
import { sampleFile } from './samples.ts'

const name = 'litellm-1.108-postgres'
const dump = sampleFile(name, 'dump.sql')
const missing = dump === undefined ? 'the samples are not here, set MIGRATION_DIR' : postgresMissing

interface Facts {
  salt_key: string
  keys: { key: string; alias: string }[]
  users: unknown[]
  spend: { rows: number; sum: number }
}

describe.skipIf(missing !== undefined)(`${name}${missing === undefined ? '' : ` (${missing})`}`, () => {
  forEachDatabaseUrl((target, freshUrl) => {
    test('is imported with the right sums, and its keys work', async () => {
      const facts = JSON.parse(readFileSync(sampleFile(name, 'facts.json') ?? '', 'utf8')) as Facts
      const { url: from } = await newPostgresDatabase()
      await loadPostgresDump(from, readFileSync(dump ?? '', 'utf8'))
      await using upstream = await startFakeUpstream()
      upstream.always(ok({ text: 'a a a a', promptTokens: 10 }))
      await using installation = new Installation(target === 'postgres' ? await freshUrl() : undefined, {
        LITELLM_SALT_KEY: facts.salt_key,
      })
      await installation.create()
      const args = ['--from', from, '--litellm-config', sampleFile(name, 'config.yaml') ?? '']

      const dry = await imported(installation, ...args, '--dry-run')
      expect(dry.added).toEqual({ users: 5, tokens: 9, channels: 6, codes: 0, logs: facts.spend.rows })
      const store = openStore({ url: installation.databaseUrl })
      expect(await store.read.selectFrom('users').select('username').execute()).toEqual([{ username: 'root' }])

      const report = await imported(installation, ...args)
      for (const { name: line, there, corrected, here } of report.sums)
        expect([line, here]).toEqual([line, there + corrected])
      expect(sum(report, 'charges')?.here).toBe(facts.spend.rows)
      const charged = sum(report, 'quota of charges')?.here ?? 0
      // Each row is rounded by at most half a unit.
      expect(Math.abs(charged - facts.spend.sum * 500_000)).toBeLessThanOrEqual(facts.spend.rows / 2)
      expect((await installation.run('audit')).output).toContain('0 faults.')
      const left = readFileSync(report.leftoversFile, 'utf8')
      for (const words of ['Sample Org', 'research', 'budget-small-1', 'model_group_alias', 'gpt-4*'])
        expect(left).toContain(words)

      expect(await imported(installation, ...args)).toMatchObject({
        mode: 'again',
        added: { users: 0, tokens: 0, channels: 0, codes: 0, logs: 0 },
      })
      await store.write((trx) => trx.updateTable('channels').set({ base_url: upstream.url }).execute())
      const balance = async () =>
        store.read
          .selectFrom('users')
          .select(['quota', 'used_quota'])
          .where('email', '=', 'u0@example.com')
          .executeTakeFirstOrThrow()
      const before = await balance()
      const gateway = await installation.start()
      const call = async (key: string) =>
        (
          await gateway.post(
            '/v1/chat/completions',
            { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'hi' }] },
            key,
          )
        ).status
      const keyOf = (alias: string) => facts.keys.find((each) => each.alias === alias)?.key ?? ''
      // LiteLLM's database contains hashes of the keys. A hash must not be accepted as a key.
      const hash = sha256(keyOf('key 0'))
      for (const stolen of [hash, `sk-${hash}`, `sk-sha256:${hash}`]) expect(await call(stolen)).toBe(401)
      expect(await call(keyOf('key 0'))).toBe(200)
      expect(
        upstream.requests.at(-1)?.headers.get('authorization') ?? upstream.requests.at(-1)?.headers.get('api-key'),
      ).toContain('sk-litellm-up-1-')
      const after = await balance()
      // 10 prompt tokens × 0.075 + 4 completion tokens × 0.3 = 1.95, which is rounded up to 2 units.
      expect([before.quota - after.quota, after.used_quota - before.used_quota]).toEqual([2, 2])
      expect(await call(keyOf('key 0'))).toBe(200)
      expect(
        [await call(keyOf('key 7')), await call(keyOf('key 8')), await call(keyOf('key 2'))].every(
          (status) => status >= 400,
        ),
      ).toBe(true)
      await gateway.stop()
      await store.close()
      expect((await installation.run('audit')).output).toContain('0 faults.')
    }, 180_000)
  })
})
