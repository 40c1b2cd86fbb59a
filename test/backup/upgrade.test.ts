import { expect, test } from 'bun:test'
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'kysely'
import { openStore } from '../../server/store/connection/open.ts'
import { migrateWithin, migrationNames } from '../../server/store/migrations/migrate.ts'
import { copyBeforeMigration } from '../../server/store/snapshot/copy-sqlite.ts'
import { version } from '../../server/version.ts'
import { forEachEmptyDatabaseUrl } from '../helpers/databases.ts'
import { Installation } from '../helpers/gateway-process.ts'
import { allRowsOf, emptyUrl, targets, withPassphrase } from './support.ts'

/** The schema of an earlier version, with one user, as that version left it. */
async function makeOld(url: string, lastMigration: string): Promise<void> {
  const store = openStore({ url })
  const names = migrationNames.slice(0, migrationNames.findIndex((name) => name.startsWith(lastMigration)) + 1)
  await store.write(async (trx) => {
    await migrateWithin(trx, store.dialect, new Set(names))
    await sql`insert into users (username, password, role, quota, granted_quota) values ('root', 'none', 100, 500, 500)`.execute(
      trx,
    )
  })
  await store.close()
}

test('a SQLite database is copied before an upgrade, and the copy can be used to go back', async () => {
  await using installation = new Installation()
  await makeOld(installation.databaseUrl, '0015')
  const before = await usersOf(installation.databaseUrl)
  const gateway = await installation.start()
  const [copy = ''] = copiesIn(installation.folder)
  expect(gateway.said()).toContain(
    `the database was copied to ${join(installation.folder, copy)} before it is upgraded`,
  )
  expect(statSync(join(installation.folder, copy)).mode & 0o777).toBe(0o600)
  await gateway.api('POST', '/api/user/', { username: 'later', password: 'long enough 1' }).catch(() => undefined)
  await gateway.stop()
  // A start without an upgrade makes no copy.
  await (await installation.start()).stop()
  expect(copiesIn(installation.folder)).toEqual([copy])

  // Goes back to the copy as docs/upgrading.md describes.
  for (const end of ['', '-wal', '-shm']) rmSync(installation.databaseUrl + end, { force: true })
  renameSync(join(installation.folder, copy), installation.databaseUrl)
  expect(await usersOf(installation.databaseUrl)).toEqual(before)
  // Then the upgrade runs again.
  await (await installation.start()).stop()
  expect(copiesIn(installation.folder)).toHaveLength(1)
  expect((await installation.run('audit')).output).toContain('; 0 faults.')
})

function copiesIn(folder: string): string[] {
  return readdirSync(folder).filter((name) => name.startsWith('before-'))
}

async function usersOf(url: string): Promise<unknown> {
  const store = openStore({ url })
  const migrations = await sql`select name from schema_migrations order by name`.execute(store.read)
  const users = await sql`select id, username, quota from users`.execute(store.read)
  await store.close()
  return { migrations: migrations.rows, users: users.rows }
}

test('only the newest three copies are kept', async () => {
  await using installation = new Installation()
  for (let upgrade = 0; upgrade < 5; upgrade++) {
    rmSync(installation.databaseUrl, { force: true })
    await makeOld(installation.databaseUrl, '0022')
    await installation.create()
    // File names have a resolution of a second, so an old name is used to represent an earlier time.
    const [newest = ''] = copiesIn(installation.folder).toSorted().slice(-1)
    renameSync(join(installation.folder, newest), join(installation.folder, `before-0.0.1-2020010${upgrade}T000000.db`))
  }
  await makeOld(join(installation.folder, 'x.db'), '0022')
  rmSync(installation.databaseUrl)
  renameSync(join(installation.folder, 'x.db'), installation.databaseUrl)
  await installation.create()
  expect(copiesIn(installation.folder)).toHaveLength(3)
  expect(copiesIn(installation.folder).toSorted().slice(0, 2)).toEqual([
    'before-0.0.1-20200103T000000.db',
    'before-0.0.1-20200104T000000.db',
  ])
})

test('if the copy cannot be written, the upgrade continues and logs a warning', async () => {
  await using installation = new Installation()
  await makeOld(installation.databaseUrl, '0022')
  // A folder that already has the name of the copy's temporary file makes the copy fail.
  mkdirSync(join(installation.folder, `before-${version}-20300102T030405.db.partial`, 'full'), { recursive: true })
  const store = openStore({ url: installation.databaseUrl })
  const warnings: string[] = []
  await copyBeforeMigration(store, {
    path: installation.databaseUrl,
    version,
    now: new Date('2030-01-02T03:04:05Z'),
    log: { info: () => undefined, warn: (message) => void warnings.push(message) },
  })
  await store.close()
  expect(warnings).toEqual([expect.stringContaining('the database is upgraded without a copy: ')])
})

forEachEmptyDatabaseUrl((name, freshUrl) => {
  for (const target of targets)
    test(`a backup of an earlier schema on ${name} restores into ${target} and is brought up to this version`, async () => {
      await using source = new Installation(name === 'postgres' ? await freshUrl() : undefined, withPassphrase)
      await makeOld(source.databaseUrl, '0015')
      const file = join(source.folder, 'old.backup')
      expect((await source.run('backup', file)).output).toContain('Wrote')
      await using restored = new Installation(await emptyUrl(target), withPassphrase)
      const done = await restored.run('restore', file)
      expect(done.output).toContain('1 users, 0 tokens, 0 channels checked; 0 holds open; 0 faults.')
      expect(done.code).toBe(0)
      expect((await allRowsOf(restored.databaseUrl))['users']).toHaveLength(1)
      expect(await (await restored.start()).stop()).toBe(0)
    })

  test(`a database of a newer version on ${name} is not backed up, because the backup would lack its new tables`, async () => {
    await using source = new Installation(name === 'postgres' ? await freshUrl() : undefined, withPassphrase)
    await makeOld(source.databaseUrl, '0024')
    const store = openStore({ url: source.databaseUrl })
    await store.write((trx) => sql`insert into schema_migrations values ('9999-future', 1)`.execute(trx))
    await store.close()
    const file = join(source.folder, 'new.backup')
    const done = await source.run('backup', file)
    expect(done.output).toContain('The database was made by a newer version (it has migration 9999-future)')
    expect(done.code).toBe(1)
    expect(existsSync(file)).toBe(false)
  })
})
