import { expect, test } from 'bun:test'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { chunked } from '../../server/backup/chunks.ts'
import { written } from '../../server/backup/contents.ts'
import type { BackupHeader } from '../../server/backup/header.ts'
import { fileSink } from '../../server/backup/write-backup.ts'
import { openStore } from '../../server/store/connection/open.ts'
import { forEachDatabaseUrl } from '../helpers/databases.ts'
import { neverAnswers, ok, startFakeUpstream } from '../helpers/fake-upstream.ts'
import { Installation } from '../helpers/gateway-process.ts'
import { answer, installFor, messages, model, newToken, pricePerCall, promptTokens } from '../money/installed.ts'
import { emptyUrl, targets, withPassphrase } from './support.ts'

forEachDatabaseUrl((name, freshUrl) => {
  for (const target of targets) {
    test(`a backup of ${name} that is made during calls restores into ${target}: the audit finds no faults, keys work and calls are charged`, async () => {
      await using upstream = await startFakeUpstream()
      upstream.always(ok({ text: answer, promptTokens }))
      await using source = new Installation(name === 'postgres' ? await freshUrl() : undefined, withPassphrase)
      const gateway = await source.start()
      await installFor(gateway, upstream.url)
      const token = await newToken(gateway, 100_000)
      const call = () => gateway.post('/v1/chat/completions', { model, messages }, token.key)
      for (let calls = 0; calls < 5; calls++) expect((await call()).status).toBe(200)
      // Calls are made until the backup is written.
      let isDone = false
      const callers = Array.from({ length: 4 }, async () => {
        let calls = 0
        for (; !isDone; calls++) expect((await call()).status).toBe(200)
        return calls
      })
      const file = join(source.folder, 'one.backup')
      const written = await source.run('backup', file, '--json')
      isDone = true
      const callsBeside = (await Promise.all(callers)).reduce((sum, calls) => sum + calls)
      expect(written.output).toContain('"encrypted_with":"passphrase"')
      expect(written.code).toBe(0)
      expect(callsBeside).toBeGreaterThan(0)
      expect(readdirSync(source.folder).filter((each) => each.endsWith('.partial'))).toEqual([])

      await using restored = new Installation(await emptyUrl(target), withPassphrase)
      const checked = await restored.run('restore', file, '--check')
      expect(checked.output).toContain('The backup is complete')
      expect(checked.code).toBe(0)
      const done = await restored.run('restore', file)
      expect(done.output).toContain('0 holds open; 0 faults.')
      expect(done.code).toBe(0)
      const again = await restored.start()
      const before = await remaining(restored, token.id)
      expect((await again.post('/v1/chat/completions', { model, messages }, token.key)).status).toBe(200)
      expect(await remaining(restored, token.id)).toBe(before - pricePerCall)
      // New rows get new ids on both databases.
      const other = await newToken(again, 1000)
      expect(other.id).toBe(token.id + 1)
      const audit = await restored.run('audit')
      expect(audit.output).toContain('; 0 faults.')
      expect(audit.code).toBe(0)
    }, 120_000)
  }
})

forEachDatabaseUrl((name, freshUrl) => {
  test(`a call that is in progress when ${name} is backed up is charged after the restore, as after a crash`, async () => {
    await using upstream = await startFakeUpstream()
    upstream.always(ok({ text: answer, promptTokens }))
    await using source = new Installation(name === 'postgres' ? await freshUrl() : undefined, withPassphrase)
    const gateway = await source.start()
    await installFor(gateway, upstream.url)
    const token = await newToken(gateway, 100_000)
    upstream.always(neverAnswers())
    const ending = new AbortController()
    const open = gateway
      .post('/v1/chat/completions', { model, messages }, token.key, { signal: ending.signal })
      .catch(() => undefined)
    while ((await crashCharges(source)).length === 0) await setTimeout(20)
    const file = join(source.folder, 'open.backup')
    expect((await source.run('backup', file)).code).toBe(0)
    const [crashCharge = 0] = await crashCharges(source)
    expect(crashCharge).toBeGreaterThan(0)
    ending.abort()
    await open
    await using restored = new Installation(await emptyUrl(name), withPassphrase)
    const done = await restored.run('restore', file)
    expect(done.output).toContain('1 calls that were open were closed as after a crash.')
    expect(done.output).toContain('0 holds open; 0 faults.')
    expect(done.code).toBe(0)
    expect(await remaining(restored, token.id)).toBe(100_000 - crashCharge)
  })
})

/** The charges for an installation's open calls if its process dies, one for each call. */
async function crashCharges(installation: Installation): Promise<number[]> {
  const store = openStore({ url: installation.databaseUrl })
  try {
    const rows = await store.read.selectFrom('holds').select('crash_charge').execute()
    return rows.map((row) => row.crash_charge)
  } finally {
    await store.close()
  }
}

test('a backup of a newer schema names the version that is needed', async () => {
  await using target = new Installation()
  const file = join(target.folder, 'newer.backup')
  const header = {
    ...{ product: 'Tollgate', format: 1, version: '9.1.0', schema: '9999-future', database: 'sqlite' },
    ...{ created_at: '2026-11-28T00:00:00.000Z', compression: 'zstd', encryption: null, has_secret_key: false },
  } as BackupHeader
  const content = written({ migrations: ['0001-init', '9999-future'] }, (async function* () {})())
  await fileSink(file)(chunked(header, content, undefined))
  const done = await target.run('restore', file)
  expect(done.output).toContain('The backup was made by a newer version (Tollgate 9.1.0, with migration 9999-future)')
  expect(done.code).toBe(1)
})

async function remaining(installation: Installation, tokenId: number): Promise<number> {
  const store = openStore({ url: installation.databaseUrl })
  try {
    const row = await store.read
      .selectFrom('tokens')
      .select('remain_quota')
      .where('id', '=', tokenId)
      .executeTakeFirst()
    return row?.remain_quota ?? -1
  } finally {
    await store.close()
  }
}

test('a backup with the option --with-secret-key restores on a machine that has no secret key', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-backup-'))
  try {
    const file = join(folder, 'whole.backup')
    await using source = new Installation(undefined, { ...withPassphrase, SECRET_KEY: '' })
    const gateway = await source.start()
    const token = await newToken(gateway, 1000)
    const written = await source.run('backup', file, '--with-secret-key')
    expect(written.output).toContain('The secret key is in it')
    await using other = new Installation(undefined, { ...withPassphrase, SECRET_KEY: '' })
    const done = await other.run('restore', file)
    expect(done.output).toContain('secret.key now.')
    expect(done.code).toBe(0)
    const key = await (await other.start()).api<{ key: string }>('GET', `/api/token/${token.id}`)
    expect(`sk-${key.key}`).toBe(token.key)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
