// A disk without room, simulated by a limit on the size of files. Each command runs in its own process, because the limit
// applies to a process.
import { expect, test } from 'bun:test'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { openStore } from '../../server/store/connection/open.ts'
import { Installation } from '../helpers/gateway-process.ts'
import { imported, sum } from './imported.ts'
import { oldHash, ownSource, smallRows } from './own-samples.ts'

const people = 600
const calls = 6000

/** A source with many users, of whom each has a note, which becomes a leftover, and with a long log. */
function largeSource(): string {
  const rows = smallRows()
  for (let id = 3; id <= people; id++) {
    rows.users.push({ id, username: `user${id}`, password: oldHash, quota: id, remark: 'a note '.repeat(60) })
    rows.tokens.push({ id, user_id: id, key: `key-${id}`, name: 'main' })
  }
  rows.logs = Array.from({ length: calls }, (_, at) => ({
    ...{
      id: at + 1,
      user_id: 2,
      created_at: 1_790_000_000 + at,
      type: 2,
      content: 'a call '.repeat(10),
      quota: at % 7,
    },
    ...{ username: 'mia', token_name: 'main', model_name: 'gpt-4o', channel_id: 1 },
  }))
  return ownSource('new-api', rows)
}

const leftoverFiles = ({ folder }: Installation) => {
  const imports = join(folder, 'imports')
  return existsSync(imports) ? readdirSync(imports).length : 0
}

test('an import into a full disk says so, leaves a good database, and ends in the same state when it runs again', async () => {
  const from = largeSource()
  const ends: string[] = []
  // In blocks of 1024 bytes: too small for the file of leftovers, for the accounts, and for the log.
  for (const limit of [200, 350, 900]) {
    await using installation = new Installation()
    await installation.create()
    const full = await installation.runUnder(`ulimit -f ${limit}`, 'import', '--from', from)
    expect([limit, full.code, full.output]).toEqual([
      limit,
      1,
      expect.stringContaining('The disk of this installation cannot be written ('),
    ])
    expect(full.output).not.toContain('    at ')
    const audit = await installation.run('audit')
    expect([limit, audit.code, audit.output]).toEqual([limit, 0, expect.stringContaining('0 faults.')])
    const isBegun = full.output.includes('it continues where it stopped')
    ends.push(isBegun ? 'in the log' : 'nothing')
    expect(full.output.includes('Nothing was changed.')).toBe(!isBegun)
    expect(leftoverFiles(installation)).toBe(isBegun ? 1 : 0)

    const report = await imported(installation, '--from', from)
    expect(report.mode).toBe(isBegun ? 'again' : 'empty')
    expect(sum(report, 'users')?.here).toBe(people)
    expect(sum(report, 'log rows')).toMatchObject({ there: calls, here: calls })
    expect(leftoverFiles(installation)).toBe(1)
    const store = openStore({ url: installation.databaseUrl })
    const { rows } = await store.read
      .selectFrom('logs')
      .select((of) => of.fn.countAll<number>().as('rows'))
      .executeTakeFirstOrThrow()
    expect(Number(rows)).toBe(calls)
    await store.close()
    expect((await installation.run('audit')).output).toContain('0 faults.')
  }
  expect(ends).toEqual(['nothing', 'nothing', 'in the log'])
}, 60_000)

test('a last leftover that fits only in part is noticed: nothing is imported, and no part of it is left', async () => {
  const { users, ...rows } = smallRows()
  const from = ownSource('new-api', {
    ...rows,
    users: users.map((user) => ({ ...user, ...(user['id'] === 2 && { remark: 'x'.repeat(2_000_000) }) })),
  })
  await using installation = new Installation()
  await installation.create()
  const full = await installation.runUnder('ulimit -f 1500', 'import', '--from', from)
  expect([full.code, full.output]).toEqual([1, expect.stringContaining('Nothing was changed.')])
  expect(leftoverFiles(installation)).toBe(0)
  expect(await imported(installation, '--from', from)).toMatchObject({ mode: 'empty', leftovers: 1 })
}, 60_000)

test('if a new installation does not fit on the disk, no database is left, and the same command creates it later', async () => {
  const from = ownSource('one-api', smallRows())
  for (const limit of [20, 100, 300]) {
    await using installation = new Installation(undefined, { SECRET_KEY: '' })
    const full = await installation.runUnder(`ulimit -f ${limit}`, 'import', '--from', from)
    expect([limit, full.code, full.output]).toEqual([limit, 1, expect.stringContaining('free some space')])
    // The key stays, because a server that has just started may have read it. The next run uses it.
    expect([limit, readdirSync(installation.folder).toSorted()]).toEqual([limit, ['secret.key', 'server.lock']])
    expect((await imported(installation, '--from', from)).added).toMatchObject({ users: 2, logs: 2 })
  }
}, 60_000)

test('rotate-key on a full disk says so, the old key stays, and the same command finishes later', async () => {
  const from = largeSource()
  for (const limit of [64, 120]) {
    await using installation = new Installation(undefined, { SECRET_KEY: '' })
    await imported(installation, '--from', from, '--only', 'users,tokens,channels')
    const keyFile = join(installation.folder, 'secret.key')
    const old = readFileSync(keyFile, 'utf8')
    const full = await installation.runUnder(`ulimit -f ${limit}`, 'rotate-key')
    expect([limit, full.code, full.output]).toEqual([limit, 1, expect.stringContaining('free some space')])
    expect(full.output).toContain('Nothing was changed.')
    expect(readFileSync(keyFile, 'utf8')).toBe(old)
    expect((await installation.run('audit')).output).toContain('0 faults.')
    // The old key is still that of the database: a command that reads with it works.
    expect(await imported(installation, '--from', from, '--only', 'users,tokens,channels')).toMatchObject({
      mode: 'again',
    })
    const done = await installation.run('rotate-key')
    expect([done.code, done.output]).toEqual([0, expect.stringContaining(`${people - 1} tokens, 1 channels`)])
    expect(readFileSync(keyFile, 'utf8')).not.toBe(old)
    expect(readdirSync(installation.folder).filter((name) => name.endsWith('.next'))).toEqual([])
  }
}, 60_000)
