import { afterAll, beforeAll, expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isPostgresUrl } from '../../server/lib/network/database-url.ts'
import { openStore } from '../../server/store/connection/open.ts'
import { contentsOf } from '../../server/store/snapshot/contents.ts'
import { Installation } from '../helpers/gateway-process.ts'
import { runsAll, sweptPoints } from '../helpers/sweeps.ts'
import { newToken } from '../money/installed.ts'
import { allRowsOf, emptyUrl, targets } from './support.ts'

const cuts = 20
const folder = mkdtempSync(join(tmpdir(), 'tollgate-cut-'))
const file = join(folder, 'one.backup')
const keyFile = join(folder, 'key')
const source = new Installation()
const addedEvents = 10_000
/** The rows that a restored or moved installation must have, except those that record the restore or the move. */
let expected: Record<string, string[]> = {}

beforeAll(async () => {
  const gateway = await source.start()
  for (let token = 0; token < 5; token++) await newToken(gateway, 1000)
  await gateway.stop()
  const store = openStore({ url: source.databaseUrl })
  const event = { actor_id: 0, actor_name: 'x', action: 'option.update', target: '', detail: 'd'.repeat(200), ip: '' }
  for (let step = 0; step < addedEvents / 500; step++)
    await store.write((trx) =>
      trx
        .insertInto('audit_events')
        .values(Array.from({ length: 500 }, (_, at) => ({ ...event, created_at: step * 500 + at })))
        .execute(),
    )
  await store.close()
  writeFileSync(keyFile, randomBytes(32))
  await source.run('backup', file, '--key-file', keyFile)
  expected = await rowsOf(source.databaseUrl)
})

afterAll(async () => {
  await source[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true, force: true })
})

async function rowsOf(url: string): Promise<Record<string, string[]>> {
  const rows = await allRowsOf(url, ['sessions', 'backups'])
  return { ...rows, audit_events: (rows['audit_events'] ?? []).filter((row) => !/backup\.|installation\./.test(row)) }
}

/** True if a database is complete, and false if it is empty. Throws if it has only a part of the rows. */
async function isComplete(url: string): Promise<boolean> {
  if (!isPostgresUrl(url) && !existsSync(url)) return false
  const store = openStore({ url })
  try {
    if ((await contentsOf(store)) === 'nothing') return false
    const { tokens } = await store.read
      .selectFrom('tokens')
      .select(({ fn }) => fn.countAll<number>().as('tokens'))
      .executeTakeFirstOrThrow()
    const { events } = await store.read
      .selectFrom('audit_events')
      .where('actor_name', '=', 'x')
      .select(({ fn }) => fn.countAll<number>().as('events'))
      .executeTakeFirstOrThrow()
    expect({ tokens: Number(tokens), events: Number(events) }).toEqual({ tokens: 5, events: addedEvents })
    return true
  } finally {
    await store.close()
  }
}

for (const kind of targets)
  test.each(['restore', 'migrate-to'] as const)(
    `kill -9 at ${cuts} points of %s into ${kind}: the target has nothing or everything, and the next run ends in the same state`,
    async (command) => {
      await using rehearsal = new Installation(await emptyUrl(kind))
      await using target = new Installation(await emptyUrl(kind))
      const run = ({ databaseUrl }: Installation) =>
        command === 'restore'
          ? [command, file, '--key-file', keyFile]
          : [command, kind === 'sqlite' ? `sqlite:${databaseUrl}` : databaseUrl]
      const runner = (installation: Installation) => (command === 'restore' ? installation : source)
      const begun = performance.now()
      expect((await runner(rehearsal).runProcess(...run(rehearsal))).code).toBe(0)
      const wholeMs = performance.now() - begun
      let killed = 0
      let hasBeenComplete = false
      for (const cut of sweptPoints(cuts, `${command} ${kind}`)) {
        const args = [...run(target), '--replace']
        if (await runner(target).runUntilKilled((wholeMs * cut) / cuts, ...args)) killed++
        const isNow = await isComplete(target.databaseUrl)
        // After one run has completed the target, later interrupted runs must not leave it incomplete.
        expect(isNow || !hasBeenComplete).toBe(true)
        hasBeenComplete ||= isNow
      }
      if (runsAll) expect(killed).toBeGreaterThan(cuts / 4)
      const last = await runner(target).run(...run(target), '--replace')
      expect(last.output).toContain('; 0 faults.')
      expect(last.code).toBe(0)
      expect(await rowsOf(target.databaseUrl)).toEqual(expected)
      await (await target.start()).stop()
    },
    600_000,
  )
