import { expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { BackupEntry } from '../../contract/api/backup.ts'
import { checkBackup } from '../../server/backup/read-backup.ts'
import { createScheduledBackups, dueAt } from '../../server/backup/scheduled-backups.ts'
import { createSecrets } from '../../server/lib/secrets/secrets.ts'
import { createMetadataGuard } from '../../server/outbound/metadata-guard.ts'
import { storedOption } from '../../server/settings/secret-options.ts'
import { loadSettings } from '../../server/settings/settings.ts'
import { openStore } from '../../server/store/connection/open.ts'
import { listBackups } from '../../server/store/installation/backups.ts'
import { saveOption } from '../../server/store/installation/options.ts'
import { forEachDatabaseUrl } from '../helpers/databases.ts'
import { type GatewayProcess, Installation } from '../helpers/gateway-process.ts'
import { startObjectStore, storeKey } from '../helpers/object-store.ts'
import { passphrase, withPassphrase } from './support.ts'

const hour = 3600
const day = 24 * hour

test('backups are due at their hour, at whole intervals after it, and immediately if there is no backup yet', () => {
  const at = (text: string) => Date.parse(`${text}Z`) / 1000
  const daily = { BackupEveryHours: 24, BackupHour: 3 }
  expect(dueAt(daily, undefined)).toBeLessThan(at('2026-01-01T00:00:00'))
  expect(dueAt(daily, at('2026-05-04T02:59:59'))).toBe(at('2026-05-04T03:00:00'))
  expect(dueAt(daily, at('2026-05-04T03:00:00'))).toBe(at('2026-05-05T03:00:00'))
  expect(dueAt(daily, at('2026-05-04T23:10:00'))).toBe(at('2026-05-05T03:00:00'))
  const often = { BackupEveryHours: 6, BackupHour: 3 }
  expect(dueAt(often, at('2026-05-04T10:00:00'))).toBe(at('2026-05-04T15:00:00'))
})

const put = (gateway: GatewayProcess, options: Record<string, string>) =>
  Object.entries(options).reduce<Promise<unknown>>(
    (before, [key, value]) => before.then(() => gateway.api('PUT', '/api/option/', { key, value })),
    Promise.resolve(),
  )

/** Makes a backup through the management API, and waits for it. */
async function backUp(gateway: GatewayProcess): Promise<BackupEntry> {
  const list = async () => (await gateway.api<{ backups: BackupEntry[] }>('GET', '/api/backup/')).backups
  const [before] = await list()
  await gateway.api('POST', '/api/backup/')
  for (;;) {
    const [newest] = await list()
    if (newest && newest.id !== before?.id && newest.finished_at > 0) return newest
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

forEachDatabaseUrl((name, freshUrl) => {
  test(`a backup that root asks for is a file that can be restored (${name})`, async () => {
    await using installation = new Installation(name === 'postgres' ? await freshUrl() : undefined, withPassphrase)
    const gateway = await installation.start()
    await expect(gateway.api('POST', '/api/backup/')).rejects.toThrow('Set BackupStore first.')
    await expect(put(gateway, { BackupStore: 'files' })).rejects.toThrow('Set BackupPassphrase before')
    await put(gateway, { BackupPassphrase: passphrase, BackupStore: 'files', BackupIncludesKey: 'true' })
    const done = await backUp(gateway)
    expect(done).toMatchObject({ error: '', place: 'files', made_by: 'root' })
    expect(done.path).toStartWith(join(installation.folder, 'backups/tollgate-'))
    expect(statSync(done.path).size).toBe(done.bytes)
    expect(statSync(done.path).mode & 0o777).toBe(0o600)
    expect(statSync(join(installation.folder, 'backups')).mode & 0o777).toBe(0o700)
    const { next_at } = await gateway.api<{ next_at: number }>('GET', '/api/backup/')
    expect(next_at).toBeGreaterThan(done.finished_at)
    await expect(put(gateway, { BackupPassphrase: '' })).rejects.toThrow('Turn off BackupStore before')
    const audit = await gateway.api<{ action: string; actor_name: string }[]>('GET', '/api/audit/')
    expect(
      audit.filter(({ action }) => action.startsWith('backup.')).map((row) => `${row.action} ${row.actor_name}`),
    ).toContain('backup.create root')
    await using restored = new Installation(undefined, { ...withPassphrase, SECRET_KEY: '' })
    const result = await restored.run('restore', done.path)
    expect(result.output).toContain('; 0 faults.')
    expect(result.code).toBe(0)
    // Root's access token works with the key from the backup.
    const again = await restored.start()
    await again.api('GET', '/api/user/self')
    // The restored list of backups does not contain the backup itself as one that is in progress.
    expect((await again.api<{ backups: BackupEntry[] }>('GET', '/api/backup/')).backups).toHaveLength(1)
  })

  test(`one node makes a backup when it is due, keeps the newest, and tries again after a failure (${name})`, async () => {
    const url = await freshUrl()
    const store = openStore({ url })
    const folder = mkdtempSync(join(tmpdir(), 'tollgate-scheduled-'))
    try {
      const secrets = createSecrets('a secret key for tests only')
      const options = {
        BackupStore: 'files',
        BackupPassphrase: passphrase,
        BackupFolder: 'b',
        BackupKeep: '2',
      } as const
      await store.write(async (trx) => {
        for (const [key, value] of Object.entries(options) as [keyof typeof options, string][]) {
          const row = storedOption(secrets, key, value)
          await saveOption(trx, key, row.value, row.sealed)
        }
      })
      const time = { ms: Date.parse('2026-05-04T12:00:00Z') }
      const clock = { nowMs: () => time.ms }
      const warnings: string[] = []
      const settings = await loadSettings(store, secrets, () => undefined)
      const deps = {
        ...{ store, settings, clock, databaseUrl: url, dataDir: folder, secretKey: 'a secret key for tests only' },
        guard: createMetadataGuard(clock.nowMs),
        warn: (message: string) => void warnings.push(message),
      }
      const nodes = [createScheduledBackups(deps), createScheduledBackups(deps)]
      const runAll = () => Promise.all(nodes.map((node) => node.runIfDue()))
      const good = async () => (await listBackups(store.read, 100)).filter(({ error }) => error === '').length
      await runAll()
      expect(await good()).toBe(1)
      await runAll()
      expect(await good()).toBe(1)
      const files = () => readdirSync(join(folder, 'b'))
      // A file that a dead process left behind is removed. A file of somebody else is not.
      writeFileSync(join(folder, 'b/tollgate-20200101T000000Z.backup.partial'), 'x')
      writeFileSync(join(folder, 'b/notes.txt'), 'x')
      for (let days = 1; days <= 3; days++) {
        time.ms += day * 1000
        await runAll()
      }
      expect(files().toSorted()).toEqual([
        'notes.txt',
        'tollgate-20260506T120000Z.backup',
        'tollgate-20260507T120000Z.backup',
      ])
      const { rows } = await checkBackup(join(folder, 'b/tollgate-20260507T120000Z.backup'), async () => ({
        passphrase,
      }))
      expect(rows['options']).toBe(4)

      rmSync(join(folder, 'b'), { recursive: true })
      writeFileSync(join(folder, 'b'), 'no folder')
      time.ms += day * 1000
      await runAll()
      await runAll()
      const [failed] = await listBackups(store.read, 1)
      expect(failed?.error).not.toBe('')
      expect(warnings.filter((each) => each.startsWith('the backup failed: '))).toHaveLength(1)
      rmSync(join(folder, 'b'))
      time.ms += hour * 1000
      await runAll()
      expect((await listBackups(store.read, 1))[0]?.error).toBe('')
    } finally {
      await store.close()
      rmSync(folder, { recursive: true, force: true })
    }
  })
})

test('a large backup is uploaded to an object store in parts, and old ones are removed', async () => {
  await using objects = startObjectStore('bucket')
  await using installation = new Installation(undefined, withPassphrase)
  await installation.create()
  // 12 MB of random text, which cannot be compressed to less than 9 MB.
  const store = openStore({ url: installation.databaseUrl })
  const text = randomBytes(9_000_000).toString('base64')
  await store.write((trx) => trx.updateTable('users').set({ display_name: text }).execute())
  await store.close()
  const gateway = await installation.start()
  await put(gateway, {
    S3Endpoint: objects.url,
    S3Bucket: 'bucket',
    S3Prefix: 'gate',
    S3AccessKeyId: storeKey.id,
    S3SecretAccessKey: storeKey.secret,
    BackupPassphrase: passphrase,
    BackupStore: 's3',
    BackupKeep: '1',
  })
  const first = await backUp(gateway)
  expect(first).toMatchObject({ error: '', place: 's3', host: '' })
  expect(first.path).toStartWith('gate/backups/tollgate-')
  expect(first.bytes).toBeGreaterThan(9_000_000)
  const stored = objects.objects.get(`/bucket/${first.path}`)
  expect(stored?.length).toBe(first.bytes)
  const file = join(installation.folder, 'downloaded.backup')
  writeFileSync(file, stored ?? '')
  expect((await installation.run('restore', file, '--check')).output).toContain('The backup is complete')
  // File names have a resolution of a second.
  while (Math.floor(Date.now() / 1000) === first.started_at) await new Promise((resolve) => setTimeout(resolve, 50))
  const second = await backUp(gateway)
  // The old one is removed after the new one has been recorded.
  while (objects.objects.size > 1) await new Promise((resolve) => setTimeout(resolve, 20))
  expect([...objects.objects.keys()]).toEqual([`/bucket/${second.path}`])

  objects.instead.push(new Response('<Error><Code>SlowDown</Code></Error>', { status: 503 }))
  const failed = await backUp(gateway)
  expect(failed.error).toBe('the object store responded with status 503 (SlowDown)')
  expect(gateway.said()).toContain('the backup failed: the object store responded with status 503 (SlowDown)')
  expect(objects.refusals).toEqual([])
  expect(readFileSync(file).length).toBe(first.bytes)
})
