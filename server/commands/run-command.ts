import type { Config } from '../config.ts'
import { audit } from './audit.ts'
import { resetPassword } from './reset-password.ts'

/** Runs a command of the command line and returns the exit code. */
export async function runCommand(name: string, args: readonly string[], config: () => Config): Promise<number> {
  const print = (line: string) => void process.stdout.write(`${line}\n`)
  switch (name) {
    case 'audit':
      return audit(config(), print)
    case 'reset-password':
      return resetPassword(config(), args[0] ?? 'root', print)
    default:
      process.stderr.write(
        `Unknown command ${name}. Commands: audit, reset-password [user]. Without a command the server starts.\n`,
      )
      return 2
  }
}
