import { existsSync, mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { closeCopiedHolds } from '../jobs/sweep-holds.ts'
import { systemClock } from '../lib/clock.ts'
import { isPostgresUrl } from '../lib/network/database-url.ts'
import { openStore } from '../store/connection/open.ts'
import type { OpenedStore } from '../store/connection/open-options.ts'
import { contentsOf } from '../store/snapshot/contents.ts'
import { loadPostgres } from '../store/snapshot/load-postgres.ts'
import type { LoadSource } from '../store/snapshot/load-source.ts'
import { stageSqlite } from '../store/snapshot/load-sqlite.ts'
import { isForeignSqlite } from '../store/snapshot/read-sqlite.ts'
import { isDatabaseError, isFull } from '../store/statements/database-errors.ts'
import type { Store } from '../store/store.ts'
import { type AuditReport, audit } from './audit.ts'
import { CommandFailed } from './command.ts'
import { fileTime } from './file-time.ts'
import { claimFor, requireNoNodes } from './running-servers.ts'

export interface FillOptions {
  /** The database to fill. */
  url: string
  source: LoadSource
  /** Whether a database with accounts may be replaced. */
  replace: boolean
  /** The name of the action for error messages, such as "restore". */
  what: string
  /** Records the action. Called with the filled database. */
  finish(store: Store): Promise<void>
}

/** A database that was filled. */
export interface Filled {
  rows: Record<string, number>
  /** The number of open calls that were closed as if their process had died. */
  closedHolds: number
  report: AuditReport
  /** The file of the SQLite database that was replaced. */
  keptAs: string | undefined
}

/**
 * Fills a database from a snapshot in one step. If the process ends at any moment, the database is either unchanged or
 * complete, and the command can run again. Afterwards, open holds are closed, and the result is audited. Throws
 * CommandFailed if the database has accounts and `replace` is false, or if a server is running on it.
 */
export async function fillDatabase(options: FillOptions): Promise<Filled> {
  return isPostgresUrl(options.url) ? fillPostgres(options) : fillSqlite(options)
}

async function fillSqlite({ url, source, replace, what, finish }: FillOptions): Promise<Filled> {
  mkdirSync(dirname(url), { recursive: true, mode: 0o700 })
  const claim = await claimFor(url, what)
  try {
    const isReplaced = await requireReplaceable(url, { replace, what })
    const staged = await stageSqlite(url, source).catch((error: unknown) => {
      throw isFull(error) ? fullDisk(url, what, error) : error
    })
    const keptAs = isReplaced ? `${url}.replaced-${fileTime(new Date())}` : undefined
    try {
      const store = staged.open()
      const rest = await completed(store, finish).finally(() => store.close())
      staged.publish(keptAs)
      return { rows: staged.rows, ...rest, keptAs }
    } catch (error) {
      throw isFull(error) ? fullDisk(url, what, error) : error
    } finally {
      staged.discard()
    }
  } finally {
    claim.release()
  }
}

function fullDisk(url: string, what: string, cause: unknown): CommandFailed {
  return new CommandFailed(
    `The database ${url} could not be written (${(cause as Error).message}). Free some space on its disk, and ${what} again. Nothing was changed.`,
    { cause },
  )
}

async function fillPostgres({ url, source, replace, what, finish }: FillOptions): Promise<Filled> {
  await requireReplaceable(url, { replace, what })
  const store = openStore({ url, unlimited: true })
  try {
    const rows = await loadPostgres(store, source, () => requireNoNodes(store, what))
    return { rows, ...(await completed(store, finish)), keptAs: undefined }
  } finally {
    await store.close()
  }
}

async function completed(store: Store, finish: FillOptions['finish']) {
  const closedHolds = await closeCopiedHolds({ store, clock: systemClock })
  await finish(store)
  return { closedHolds, report: await audit(store) }
}

/** Checks that the database may be replaced. Returns whether it contains anything that must be kept. */
async function requireReplaceable(
  url: string,
  { replace, what }: Pick<FillOptions, 'replace' | 'what'>,
): Promise<boolean> {
  if (!isPostgresUrl(url) && !existsSync(url)) return false
  if (!isPostgresUrl(url) && statSync(url).isDirectory())
    throw new CommandFailed(`${url} is a folder: name a file in it, such as tollgate.db. Nothing was changed.`)
  if (!isPostgresUrl(url) && isForeignSqlite(url)) throw foreign()
  const store = opened(url)
  if (!store) {
    if (replace) return true
    throw new CommandFailed(
      `The file ${url} is damaged, or is not a database: use --replace to ${what} in its place. Nothing was changed.`,
    )
  }
  try {
    const contents = await contentsOf(store).catch((error: unknown) => {
      // A damaged file is treated as an installation, so that `--replace` can replace it. A damaged file is the most
      // common reason for restoring a backup.
      if (store.dialect === 'sqlite' && isDatabaseError(error)) return 'installation' as const
      throw error
    })
    if (contents === 'foreign') throw foreign()
    if (contents === 'installation' && !replace)
      throw new CommandFailed(
        `The database already contains an installation. Use --replace to ${what} in its place, which deletes its contents; or use an empty database. Nothing was changed.`,
      )
    await requireNoNodes(store, what)
    return contents === 'installation'
  } finally {
    await store.close()
  }
}

const foreign = () =>
  new CommandFailed(
    'The database belongs to another program (it has a table users): use a database of its own. Nothing was changed.',
  )

/** Opens the database; undefined if the file cannot be read as a database. */
function opened(url: string): OpenedStore | undefined {
  try {
    return openStore({ url, unlimited: true })
  } catch (error) {
    if (isPostgresUrl(url)) throw error
    return undefined
  }
}
