import { expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { openStore } from './open.ts'

test('a transaction that SQLite aborts, as on a full disk, fails with the reason, and the next transaction succeeds', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-open-'))
  const store = openStore({ url: join(folder, 'tollgate.db') })
  const put = (text: string) => store.write((trx) => sql`insert into notes values (${text})`.execute(trx))
  await store.write(async (trx) => {
    await sql`create table notes (text text)`.execute(trx)
    await sql`create trigger full before insert on notes when new.text = 'long'
      begin select raise(rollback, 'database or disk is full'); end`.execute(trx)
  })
  await put('short')
  await expect(put('long')).rejects.toThrow('database or disk is full')
  await put('short')
  const { rows } = await sql<{ n: number }>`select count(*) as n from notes`.execute(store.read)
  expect(rows).toEqual([{ n: 2 }])
  await store.close()
  rmSync(folder, { recursive: true, force: true })
})
