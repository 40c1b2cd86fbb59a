import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { magic } from '../../server/backup/header.ts'
import { checkBackup } from '../../server/backup/read-backup.ts'
import { openStore } from '../../server/store/connection/open.ts'
import { forEachDatabaseUrl } from '../helpers/databases.ts'
import { Installation } from '../helpers/gateway-process.ts'
import { newToken } from '../money/installed.ts'
import { allRowsOf, emptyUrl, targets, withPassphrase } from './support.ts'

const folder = mkdtempSync(join(tmpdir(), 'tollgate-backup-'))
const encrypted = join(folder, 'encrypted.backup')
/** A backup that is encrypted with a key file. Unlike a passphrase, a key file takes no time to check. */
const keyed = join(folder, 'keyed.backup')
const plain = join(folder, 'plain.backup')
const source = new Installation(undefined, withPassphrase)

beforeAll(async () => {
  const gateway = await source.start()
  for (let token = 0; token < 3; token++) await newToken(gateway, 1000)
  writeFileSync(keyFile, randomBytes(32))
  for (const [file, ...options] of [[encrypted], [keyed, '--key-file', keyFile], [plain, '--unencrypted']] as const) {
    const written = await source.run('backup', file, ...options)
    expect(written.output).toContain('Wrote')
    expect(written.code).toBe(0)
  }
  await gateway.stop()
})

afterAll(async () => {
  await source[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true, force: true })
})

const keyFile = join(folder, 'backup.key')
const secret = async () => ({ keyFile: readFileSync(keyFile) })

describe.each([
  ['an encrypted backup', keyed],
  ['a backup that is not encrypted', plain],
])('%s', (_, file) => {
  const changedFile = join(folder, 'changed.backup')
  const rejects = async (bytes: Uint8Array) => {
    writeFileSync(changedFile, bytes)
    const error = await checkBackup(changedFile, secret).then(
      () => undefined,
      (cause: unknown) => cause,
    )
    if (!(error instanceof Error)) throw new Error('a damaged backup was accepted')
    return error.message
  }

  test('is accepted if it is unchanged', async () => {
    const { rows } = await checkBackup(file, secret)
    expect(rows['tokens']).toBe(3)
  })

  test('is rejected wherever it is cut off', async () => {
    const bytes = readFileSync(file)
    const lengths = Array.from({ length: 40 }, (_, at) => Math.floor((bytes.length * at) / 40))
    for (const length of [...lengths, bytes.length - 1, bytes.length - 16, bytes.length - 32])
      expect(await rejects(bytes.subarray(0, length))).toMatch(/^The backup is damaged \(.+\): use another copy/)
  })

  test('is rejected whichever bit is changed', async () => {
    const bytes = readFileSync(file)
    for (let at = 0; at < 60; at++) {
      const changed = Buffer.from(bytes)
      const place = Math.floor((bytes.length * at) / 60)
      changed[place] = (changed[place] ?? 0) ^ (1 << (at % 8))
      // A change in the salt has the same effect as a wrong key, so the error may be about the key file.
      expect(await rejects(changed)).toMatch(/^The (backup|key file) /)
    }
  })

  test('is rejected if other bytes or a second copy follow its end, and if only its header is left', async () => {
    const bytes = readFileSync(file)
    const head = magic.length + 4 + bytes.readUInt32BE(magic.length)
    expect(await rejects(Buffer.concat([bytes, Buffer.from('x')]))).toContain('bytes after its end')
    expect(await rejects(Buffer.concat([bytes, bytes]))).toContain('bytes after its end')
    expect(await rejects(bytes.subarray(0, head))).toContain('truncated')
  })
})

test('a header of a newer format names the version that is needed', async () => {
  const bytes = readFileSync(plain)
  const length = bytes.readUInt32BE(magic.length)
  const from = magic.length + 4
  const header = JSON.parse(bytes.subarray(from, from + length).toString()) as object
  const json = Buffer.from(JSON.stringify({ ...header, format: 2, version: '9.1.0' }))
  const size = Buffer.alloc(4)
  size.writeUInt32BE(json.length)
  const newer = join(folder, 'newer.backup')
  writeFileSync(newer, Buffer.concat([magic, size, json, bytes.subarray(from + length)]))
  await using target = new Installation()
  const done = await target.run('restore', newer)
  expect(done.output).toContain('The backup was written by Tollgate 9.1.0 in a format that this version cannot read')
  expect(done.code).toBe(1)
  expect(existsSync(target.databaseUrl)).toBe(false)
})

for (const kind of targets)
  describe(`restoring into ${kind}`, () => {
    test('stops if the file, the passphrase or the secret key is wrong or missing, says what to do and changes nothing', async () => {
      await using empty = new Installation(await emptyUrl(kind), withPassphrase)
      const refusal = async (installation: Installation, ...args: string[]) => {
        const { code, output } = await installation.run('restore', ...args)
        return { code, text: output.trim().split('\n').at(-1) ?? '' }
      }
      const passphraseFile = join(folder, 'passphrase')
      writeFileSync(passphraseFile, 'another passphrase\n')
      expect(await refusal(empty, encrypted, '--passphrase-file', passphraseFile)).toEqual({
        code: 1,
        text: 'The passphrase is wrong: use the one with which this backup was made. Nothing was changed.',
      })
      expect(await refusal(empty, encrypted, '--key-file', plain)).toEqual({
        code: 1,
        text: 'The backup is encrypted with a passphrase, not with a key file: use --passphrase-file or TOLLGATE_BACKUP_PASSPHRASE.',
      })
      expect(await refusal(empty, join(folder, 'none.backup'))).toMatchObject({
        code: 1,
        text: expect.stringMatching(/^There is no file /),
      })
      await using stranger = new Installation(await emptyUrl(kind), {
        ...withPassphrase,
        SECRET_KEY: 'the key of another installation',
      })
      expect((await refusal(stranger, encrypted)).text).toStartWith('The backup was made under another secret key.')
      await using keyless = new Installation(await emptyUrl(kind), { ...withPassphrase, SECRET_KEY: '' })
      expect((await refusal(keyless, encrypted)).text).toStartWith('The secret key is missing')
      await using silent = new Installation(await emptyUrl(kind))
      expect(await refusal(silent, encrypted)).toMatchObject({
        code: 4,
        text: expect.stringContaining('--passphrase-file'),
      })
      for (const { folder: dataDir } of [empty, stranger, keyless, silent])
        expect(readdirSync(dataDir).filter((each) => each !== 'server.lock')).toEqual([])
      // A server can still be started on the empty database.
      await (await empty.start()).stop()
    }, 120_000)

    test('a database with data is replaced only with --replace and while no server runs, and its old SQLite file is kept', async () => {
      await using filled = new Installation(await emptyUrl(kind), withPassphrase)
      const gateway = await filled.start()
      await newToken(gateway, 77)
      const running = await filled.run('restore', encrypted, '--replace')
      expect(running.output).toContain('A server is running on')
      expect(running.code).toBe(1)
      await gateway.stop()
      const before = await allRowsOf(filled.databaseUrl)
      const refused = await filled.run('restore', encrypted)
      expect(refused.output).toContain('The database already contains an installation. Use --replace')
      expect(refused.code).toBe(1)
      expect(await allRowsOf(filled.databaseUrl)).toEqual(before)
      const replaced = await filled.run('restore', encrypted, '--replace')
      expect(replaced.output).toContain('; 0 faults.')
      expect(replaced.code).toBe(0)
      expect((await allRowsOf(filled.databaseUrl))['tokens']).toHaveLength(3)
      if (kind === 'sqlite') {
        const [kept = ''] = readdirSync(filled.folder).filter((each) => each.startsWith('tollgate.db.replaced-'))
        expect((await allRowsOf(join(filled.folder, kept)))['tokens']).toHaveLength(1)
      }
    }, 120_000)
  })

test('if the data is restored but its secret key cannot be written, the error says so, and another run finishes', async () => {
  const withKey = join(folder, 'with-key.backup')
  expect((await source.run('backup', withKey, '--key-file', keyFile, '--with-secret-key')).code).toBe(0)
  await using target = new Installation(undefined, { SECRET_KEY: '' })
  const earlierKey = 'the secret key of an earlier installation\n'
  const secretKey = join(target.folder, 'secret.key')
  writeFileSync(secretKey, earlierKey)
  // A folder with the name of the temporary file, so that the key cannot be written.
  mkdirSync(`${secretKey}.new`)
  const failed = await target.run('restore', withKey, '--key-file', keyFile)
  expect(failed.output).toContain(
    `The data is restored, but its secret key could not be written to ${secretKey} (EISDIR`,
  )
  expect(failed.code).toBe(1)
  expect(readFileSync(secretKey, 'utf8')).toBe(earlierKey)
  rmSync(`${secretKey}.new`, { recursive: true })
  const done = await target.run('restore', withKey, '--key-file', keyFile, '--replace')
  expect(done.output).toContain(`The secret key of the backup is in ${secretKey} now.`)
  expect(done.code).toBe(0)
  const kept = readdirSync(target.folder).filter((each) => each.startsWith('secret.key.replaced-'))
  expect(new Set(kept.map((each) => readFileSync(join(target.folder, each), 'utf8')))).toEqual(new Set([earlierKey]))
})

test('a damaged SQLite file can be replaced', async () => {
  await using broken = new Installation(undefined, withPassphrase)
  writeFileSync(broken.databaseUrl, Buffer.alloc(50_000, 'no database'))
  const refused = await broken.run('restore', encrypted)
  expect(refused.output).toContain('is damaged, or is not a database: use --replace')
  const done = await broken.run('restore', encrypted, '--replace')
  expect(done.output).toContain('; 0 faults.')
  expect(done.code).toBe(0)
})

forEachDatabaseUrl((name, freshUrl) => {
  test('if a backup does not fit on the disk, the command reports it and leaves no file', async () => {
    await using full = new Installation(name === 'postgres' ? await freshUrl() : undefined, withPassphrase)
    const gateway = await full.start()
    await gateway.stop()
    await addIncompressible(full.databaseUrl)
    const file = join(full.folder, 'full.backup')
    // The limit is in blocks of 1024 bytes. SQLite's shared memory needs 32 of them.
    const done = await full.runUnder('ulimit -f 64', 'backup', file)
    expect(done.output).toContain(`The backup ${file} could not be written: the file would be larger than`)
    expect(done.code).toBe(1)
    expect(readdirSync(full.folder).filter((each) => each.includes('full.backup'))).toEqual([])
  })
})

test('if a restored database does not fit on the disk, the command reports it and leaves no file', async () => {
  await using target = new Installation(undefined, withPassphrase)
  const done = await target.runUnder('ulimit -f 200', 'restore', encrypted)
  expect(done.output).toContain('could not be written')
  expect(done.output).toContain('Free some space on its disk')
  expect(done.code).toBe(1)
  expect(readdirSync(target.folder)).toEqual(['server.lock'])
})

/** Adds rows of random text, which no compression makes smaller. */
async function addIncompressible(url: string): Promise<void> {
  const store = openStore({ url })
  const event = { created_at: 1, actor_id: 0, actor_name: '', action: 'option.update', target: '', ip: '' }
  await store.write((trx) =>
    trx
      .insertInto('audit_events')
      .values(Array.from({ length: 400 }, () => ({ ...event, detail: randomBytes(400).toString('base64') })))
      .execute(),
  )
  await store.close()
}

test('a backup never overwrites a file, and is encrypted by default', async () => {
  const existing = await source.run('backup', encrypted)
  expect(existing.output).toContain('exists already')
  await using silent = new Installation()
  await (await silent.start()).stop()
  const done = await silent.run('backup', join(folder, 'silent.backup'))
  expect(done.output).toContain('or --unencrypted for a backup that anybody can read')
  expect(done.code).toBe(4)
  const key = await silent.run('backup', join(folder, 'silent.backup'), '--unencrypted', '--with-secret-key')
  expect(key.output).toContain('The secret key may only be in an encrypted backup')
  expect(existsSync(join(folder, 'silent.backup'))).toBe(false)
  // Neither a key of an upstream nor a text of a row can be read in an encrypted file.
  expect(readFileSync(encrypted).includes('username')).toBe(false)
})
