// Backups contain all data of an installation. An attacker could abuse the option that says where they are written, and
// the database rows that say which files are deleted.
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from 'bun:test'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { createScheduledBackups } from '../../server/backup/scheduled-backups.ts'
import { operatorFolder } from '../../server/lib/operator-folder.ts'
import { createMetadataGuard } from '../../server/outbound/metadata-guard.ts'
import { openStore } from '../../server/store/connection/open.ts'
import { addBackupRow, listBackups } from '../../server/store/installation/backups.ts'
import { forEachDatabaseUrl } from '../helpers/databases.ts'
import { startService } from '../helpers/outside-services.ts'
import { type Attacker, type Scene, scene } from './setup.ts'

setDefaultTimeout(60_000)

const climbing = [
  '../elsewhere',
  'a/../../elsewhere',
  '/var/../etc',
  '..',
  'a\\..\\b',
  'a\0b',
  '',
  ' ',
  `/${'x'.repeat(1100)}`,
]

test('a backup folder is refused if its path leads out of the data folder or is invalid', () => {
  for (const folder of climbing) expect(() => operatorFolder('/data', 'BackupFolder', folder)).toThrow()
  expect(operatorFolder('/data', 'BackupFolder', 'backups/daily')).toBe('/data/backups/daily')
  expect(operatorFolder('/data', 'BackupFolder', '/mnt/disk')).toBe('/mnt/disk')
})

forEachDatabaseUrl((_, freshUrl) => {
  let set: Scene
  let url: string
  let root: Attacker
  let dataDir: string

  beforeEach(async () => {
    url = await freshUrl()
    set = await scene(openStore({ url }))
    root = await set.person(100)
    dataDir = mkdtempSync(join(tmpdir(), 'tollgate-attack-'))
  })
  afterEach(async () => {
    await set.api.store.close()
    rmSync(dataDir, { recursive: true, force: true })
  })

  const call = async (method: string, path: string, as: Attacker, body?: unknown) =>
    (await set.api.call(method, path, { as: as.token, ...(body !== undefined && { body }) })).json
  const put = (key: string, value: string, as = root) => call('PUT', '/api/option/', as, { key, value })
  const backups = (resolve?: () => Promise<string[]>) => {
    const { store, settings, clock } = set.api
    return createScheduledBackups({
      ...{ store, settings, clock, databaseUrl: url, dataDir },
      secretKey: 'a secret key for tests only',
      guard: createMetadataGuard(clock.nowMs, resolve),
      warn: () => undefined,
    })
  }

  test('users and admins cannot see backups, start one or choose where they are stored', async () => {
    for (const role of [1, 10]) {
      const attacker = await set.person(role)
      for (const method of ['GET', 'POST']) expect((await call(method, '/api/backup/', attacker)).success).toBe(false)
      for (const [key, value] of [
        ['BackupStore', 'files'],
        ['BackupFolder', '/tmp'],
        ['BackupPassphrase', 'chosen by an attacker'],
        ['BackupIncludesKey', 'true'],
        ['BackupKeep', '1'],
        ['S3Endpoint', 'https://attacker.example'],
      ] as const)
        expect((await put(key, value, attacker)).success).toBe(false)
    }
    expect((await call('GET', '/api/backup/', root)).success).toBe(true)
  })

  test('a backup folder whose path leads out of the data folder is refused, even if the path is already in the database', async () => {
    for (const folder of climbing) expect((await put('BackupFolder', folder)).success).toBe(false)
    await put('BackupPassphrase', 'a passphrase of root')
    await put('BackupStore', 'files')
    const { store, settings } = set.api
    await store.write((trx) => trx.insertInto('options').values({ key: 'BackupFolder', value: '../climbed' }).execute())
    await settings.reload()
    await backups().runIfDue()
    expect(existsSync(join(dataDir, '../climbed'))).toBe(false)
    expect(readdirSync(dataDir)).toEqual([])
    expect((await listBackups(store.read, 1))[0]?.error).toBe('BackupFolder is not a folder that may be used')
  })

  test('only files that are named like backups are deleted, even if the database lists other files', async () => {
    await put('BackupPassphrase', 'a passphrase of root')
    await put('BackupStore', 'files')
    await put('BackupKeep', '1')
    const precious = join(dataDir, 'precious.txt')
    const ofSomebody = join(dataDir, 'mine/tollgate.backup')
    mkdirSync(join(dataDir, 'mine'))
    for (const file of [precious, ofSomebody]) writeFileSync(file, 'x')
    const { store } = set.api
    const row = { started_at: 1, finished_at: 2, made_by: 'schedule', place: 'files' as const, bytes: 1, error: '' }
    for (const path of [precious, ofSomebody])
      await store.write((trx) => addBackupRow(trx, { ...row, host: hostname(), path }))
    await backups().runIfDue()
    set.api.time.ms += 25 * 3_600_000
    await backups().runIfDue()
    expect(existsSync(precious)).toBe(true)
    expect(existsSync(ofSomebody)).toBe(true)
    expect(readdirSync(join(dataDir, 'backups'))).toHaveLength(1)
  })

  test('an object store cannot be a cloud metadata service, whether by its URL, by its host name or by a redirect', async () => {
    let asked = 0
    await using service = await startService((_request, response) => {
      asked++
      response.writeHead(307, { location: 'http://169.254.169.254/latest/meta-data/' }).end()
    })
    await put('BackupPassphrase', 'a passphrase of root')
    for (const endpoint of ['http://169.254.169.254', 'http://metadata.google.internal', 'http://[fd00:ec2::254]'])
      expect((await put('S3Endpoint', endpoint)).success).toBe(false)
    await put('S3Bucket', 'bucket')
    await put('S3Endpoint', 'http://store.example')
    await put('BackupStore', 's3')
    await backups(async () => ['169.254.169.254']).runIfDue()
    expect((await listBackups(set.api.store.read, 1))[0]?.error).toContain('cannot be reached')

    await put('S3Endpoint', service.url)
    set.api.time.ms += 25 * 3_600_000
    await backups(async () => ['127.0.0.1']).runIfDue()
    expect((await listBackups(set.api.store.read, 1))[0]?.error).toContain('status 307')
    expect(asked).toBe(1)
  })

  test('the passphrase is in no response and not in the audit log', async () => {
    await put('BackupPassphrase', 'a passphrase of root')
    for (const path of ['/api/option/', '/api/option/definitions', '/api/audit/', '/api/backup/'])
      expect(JSON.stringify(await call('GET', path, root))).not.toContain('a passphrase of root')
  })
})
