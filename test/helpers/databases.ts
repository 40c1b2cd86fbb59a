import { afterAll, beforeAll, describe, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { migrate } from '../../server/store/migrate.ts'
import { openStore } from '../../server/store/open.ts'
import type { Store } from '../../server/store/store.ts'
import { newPostgresDatabase, postgresMissing, postgresServer } from './postgres.ts'

/** What a suite gets: `openFresh` opens an empty, migrated database; all are closed and deleted after the suite. */
export type DatabaseSuite = (name: 'sqlite' | 'postgres', openFresh: () => Promise<Store>) => void

/** Runs the suite once per kind of database. */
export function forEachDatabase(suite: DatabaseSuite): void {
  forEachDatabaseUrl((name, freshUrl) => {
    const stores: Store[] = []
    afterAll(async () => {
      for (const store of stores) await store.close()
    })
    suite(name, async () => {
      const store = closedOnce(openStore({ url: await freshUrl() }))
      stores.push(store)
      await migrate(store)
      return store
    })
  })
}

/** A test may close its store itself. */
function closedOnce(store: Store): Store {
  let closing: Promise<void> | undefined
  return {
    ...store,
    close: () => {
      closing ??= store.close()
      return closing
    },
  }
}

/** As `forEachDatabase`, with the URL of an empty database in place of an open store: for whole gateways. */
export function forEachDatabaseUrl(
  suite: (name: 'sqlite' | 'postgres', freshUrl: () => Promise<string>) => void,
): void {
  describe('sqlite', () => {
    const folders: string[] = []
    suite('sqlite', async () => {
      const folder = mkdtempSync(join(tmpdir(), 'tollgate-'))
      folders.push(folder)
      return join(folder, 'test.db')
    })
    afterAll(() => {
      for (const folder of folders) rmSync(folder, { recursive: true, force: true })
    })
  })
  if (postgresMissing !== undefined) {
    test.skip(`postgres (${postgresMissing})`, () => undefined)
    return
  }
  describe('postgres', () => {
    const drops: (() => Promise<void>)[] = []
    beforeAll(async () => {
      await postgresServer()
    }, 120_000)
    suite('postgres', async () => {
      const database = await newPostgresDatabase()
      drops.push(database.drop)
      return database.url
    })
    afterAll(async () => {
      for (const drop of drops) await drop()
    }, 60_000)
  })
}
