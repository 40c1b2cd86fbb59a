import { existsSync } from 'node:fs'
import type { Config } from '../config.ts'
import { audit } from './audit.ts'
import { resetPassword } from './reset-password.ts'

/** Runs a command of the command line and returns the exit code. */
export async function runCommand(name: string, args: readonly string[], config: () => Config): Promise<number> {
  const print = (line: string) => void process.stdout.write(`${line}\n`)
  const existing = () => {
    const found = config()
    const isFile = !/^postgres(ql)?:/.test(found.databaseUrl)
    if (!isFile || existsSync(found.databaseUrl)) return found
    throw new Error(`there is no installation in ${found.dataDir}; set DATA_DIR or DATABASE_URL`)
  }
  switch (name) {
    case 'audit':
      return audit(existing(), print)
    case 'reset-password':
      return resetPassword(existing(), args[0] ?? 'root', print)
    default:
      process.stderr.write(
        `Unknown command ${name}. Commands: audit, reset-password [user]. Without a command the server starts.\n`,
      )
      return 2
  }
}
