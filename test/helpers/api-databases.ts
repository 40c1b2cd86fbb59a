import { describe } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { migrate } from '../../server/store/migrate.ts'
import { openStore } from '../../server/store/open.ts'
import type { Store } from '../../server/store/store.ts'

/** Runs the suite once per kind of database; `openFresh` opens an empty, migrated one. */
export function forEachDatabase(suite: (name: string, openFresh: () => Promise<Store>) => void): void {
  describe('sqlite', () => suite('sqlite', () => opened(join(mkdtempSync(join(tmpdir(), 'tollgate-')), 'test.db'))))
  const server = process.env.TEST_POSTGRES_URL
  if (server) describe('postgres', () => suite('postgres', async () => opened(await newDatabase(server))))
}

async function opened(url: string): Promise<Store> {
  const store = openStore({ url })
  await migrate(store)
  return store
}

async function newDatabase(server: string): Promise<string> {
  const name = `t${randomBytes(8).toString('hex')}`
  const client = new pg.Client({ connectionString: server })
  await client.connect()
  await client.query(`create database ${name}`)
  await client.end()
  const url = new URL(server)
  url.pathname = `/${name}`
  return url.toString()
}
