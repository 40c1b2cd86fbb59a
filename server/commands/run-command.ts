import type { Config } from '../config.ts'
import { audit } from './audit.ts'

/** Runs a command of the command line and returns the exit code. */
export async function runCommand(name: string, _args: readonly string[], config: () => Config): Promise<number> {
  switch (name) {
    case 'audit':
      return audit(config(), (line) => void process.stdout.write(`${line}\n`))
    default:
      process.stderr.write(`Unknown command ${name}. Commands: audit. Without a command the server starts.\n`)
      return 2
  }
}
