import { existsSync } from 'node:fs'
import type { CommandConfig } from '../config.ts'
import { quickCheckCommand } from '../jobs/database-check.ts'
import { isPostgresUrl } from '../lib/network/database-url.ts'
import { openStore } from '../store/connection/open.ts'
import { quickCheck } from '../store/connection/quick-check-sqlite.ts'
import { isMigrated } from '../store/migrations/migrate.ts'
import type { Store } from '../store/store.ts'
import { audit } from './audit.ts'
import { resetPassword } from './reset-password.ts'

type Print = (line: string) => void

/** Each command works on an existing installation, with or without a running server, and returns the exit code. */
const commands: Readonly<Record<string, (store: Store, args: readonly string[], print: Print) => Promise<number>>> = {
  audit: (store, _args, print) => audit(store, print),
  'reset-password': (store, args, print) => resetPassword(store, args[0] ?? 'root', print),
}

const usage = `Usage: npm run tollgate <command>

  audit                   checks that balances, holds and the log agree
  reset-password [user]   sets a new password for a person (root, if none is named) and prints it

Run it where the server runs, with the same DATA_DIR or DATABASE_URL. npm start starts the server.
`

/**
 * Prints what is wrong with a SQLite database and returns 3 if anything is wrong. Throws if that cannot be determined.
 */
function check(databaseUrl: string): number {
  const faults = quickCheck(databaseUrl)
  process.stdout.write(faults.map((fault) => `${fault}\n`).join(''))
  return faults.length === 0 ? 0 : 3
}

/**
 * Runs a command of the command line and returns the exit code. Throws an error whose message is a sentence for the
 * operator.
 */
export async function runCommand(
  name: string,
  args: readonly string[],
  readConfig: () => CommandConfig,
): Promise<number> {
  if (name === '--help' || name === 'help') {
    process.stdout.write(usage)
    return 0
  }
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined
  if (!command && name !== quickCheckCommand) {
    process.stderr.write(`Unknown command ${name}.\n${usage}`)
    return 2
  }
  const config = readConfig()
  // Opening a SQLite database creates it if it does not exist, and a command must not create one.
  if (!isPostgresUrl(config.databaseUrl) && !existsSync(config.databaseUrl))
    throw new Error(`There is no installation: ${config.databaseUrl} does not exist. Check DATA_DIR and DATABASE_URL.`)
  // This command is for the server's own use and opens nothing for writing.
  if (name === quickCheckCommand) return check(config.databaseUrl)
  const store = openStore({ url: config.databaseUrl, synchronous: config.sqliteSynchronous, unlimited: true })
  try {
    if (!(await isMigrated(store)))
      throw new Error('The database holds no installation, or one that this version has not been started on yet.')
    return (await command?.(store, args, (line) => void process.stdout.write(`${line}\n`))) ?? 1
  } finally {
    await store.close()
  }
}
