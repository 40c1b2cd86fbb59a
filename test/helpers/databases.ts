import { afterAll, beforeAll, describe, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openStore } from '../../server/store/connection/open.ts'
import type { Store } from '../../server/store/store.ts'
import { newPostgresDatabase, postgresMissing, postgresServer } from './postgres.ts'
import { copySqliteTemplate, newMigratedPostgresDatabase } from './templates.ts'

/**
 * A suite and its parameters: `openFresh` opens an empty, migrated database. All databases are closed and deleted after
 * the suite.
 */
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
      return store
    })
  })
}

/** Makes a second call of `close` do nothing, so that a test can close its store before the suite closes it. */
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

type UrlSuite = (name: 'sqlite' | 'postgres', freshUrl: () => Promise<string>) => void

/**
 * Like `forEachDatabase`, but gives the URL of a migrated database instead of an open store. For tests of whole
 * gateways.
 */
export function forEachDatabaseUrl(suite: UrlSuite): void {
  forEachUrl(suite, { isMigrated: true })
}

/** Like `forEachDatabaseUrl`, but with databases that have no tables yet. For tests of a first start. */
export function forEachEmptyDatabaseUrl(suite: UrlSuite): void {
  forEachUrl(suite, { isMigrated: false })
}

function forEachUrl(suite: UrlSuite, { isMigrated }: { isMigrated: boolean }): void {
  describe('sqlite', () => {
    const folders: string[] = []
    suite('sqlite', async () => {
      const folder = mkdtempSync(join(tmpdir(), 'tollgate-'))
      folders.push(folder)
      const path = join(folder, 'test.db')
      if (isMigrated) await copySqliteTemplate(path)
      return path
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
      const database = await (isMigrated ? newMigratedPostgresDatabase() : newPostgresDatabase())
      drops.push(database.drop)
      return database.url
    })
    afterAll(async () => {
      for (const drop of drops) await drop()
    }, 60_000)
  })
}
