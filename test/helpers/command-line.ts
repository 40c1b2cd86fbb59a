import { Writable } from 'node:stream'
import type { CommandEnvironment } from '../../server/commands/command.ts'
import {
  ConfigError,
  exportPassphrase,
  loadCommandConfig,
  loadCommandSecretKey,
  referencedVariable,
} from '../../server/config.ts'
import { faultOf } from '../../server/lib/fault-of.ts'

/**
 * The functions of the command module that are used here. If the module's own type were used, type checking the browser
 * tests would include the whole server.
 */
interface Commands {
  runCommand(args: readonly string[], environment: CommandEnvironment): Promise<number>
}

/** How a command ended and everything that it wrote. */
export interface Outcome {
  code: number | null
  output: string
}

/**
 * Runs a command of the command line in this process. Running server/main.ts in its own process does the same but takes
 * a hundred times as long. Exit codes as the shell sees them, signals and resource limits need a process of their own,
 * and are tested with one.
 */
export async function runHere(args: readonly string[], env: Record<string, string | undefined>): Promise<Outcome> {
  const { runCommand }: Commands = await import(new URL('../../server/commands/run-command.ts', import.meta.url).href)
  let output = ''
  let isMisconfigured = false
  const written = () =>
    new Writable({
      write(chunk: Buffer, _encoding, done) {
        // A real process would have ended at its wrong configuration, so later output is ignored.
        if (!isMisconfigured) output += chunk.toString()
        done()
      },
    })
  const read = <T>(load: () => T): T => {
    try {
      return load()
    } catch (error) {
      if (error instanceof ConfigError && !isMisconfigured) {
        output += error.faults.map((fault) => `Configuration: ${fault}\n`).join('')
        isMisconfigured = true
      }
      throw error
    }
  }
  const code = await runCommand(args, {
    readConfig: () => read(() => loadCommandConfig(env)),
    readSecretKey: () => read(() => loadCommandSecretKey(env)),
    variable: (name) => referencedVariable(name, env),
    passphrase: () => exportPassphrase(env),
    out: written(),
    err: written(),
  }).catch((error: unknown) => {
    if (!isMisconfigured) output += `${faultOf(error)}.\n`
    return 1
  })
  return { code: isMisconfigured ? 78 : code, output }
}
