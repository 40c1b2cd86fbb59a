import { expect, test } from 'bun:test'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openStore } from '../../server/store/connection/open.ts'
import { forEachDatabaseUrl } from '../helpers/databases.ts'
import { ok, startFakeUpstream } from '../helpers/fake-upstream.ts'
import { Installation } from '../helpers/gateway-process.ts'
import { answer, installFor, messages, model, newToken, pricePerCall, promptTokens } from '../money/installed.ts'
import { emptyUrl, targets, withPassphrase } from './support.ts'

forEachDatabaseUrl((name, freshUrl) => {
  for (const target of targets) {
    test(`a backup of ${name} beside running calls restores into ${target}: the books agree, keys work and calls are charged`, async () => {
      await using upstream = await startFakeUpstream()
      upstream.always(ok({ text: answer, promptTokens }))
      await using source = new Installation(name === 'postgres' ? await freshUrl() : undefined, withPassphrase)
      const gateway = await source.start()
      await installFor(gateway, upstream.url)
      const token = await newToken(gateway, 100_000)
      const call = () => gateway.post('/v1/chat/completions', { model, messages }, token.key)
      for (let calls = 0; calls < 5; calls++) expect((await call()).status).toBe(200)
      // Calls go on until the backup is written.
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

test('a backup for a new machine brings its secret key with it', async () => {
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
}, 60_000)
