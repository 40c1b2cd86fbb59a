import { Command, CommanderError } from 'commander'
import { ImportFailed } from '../import/import-failed.ts'
import { programName } from '../lib/program-files.ts'
import { isDamaged, isFull } from '../store/statements/database-errors.ts'
import { version } from '../version.ts'
import { addApply } from './apply.ts'
import { addAudit } from './audit.ts'
import { addBackup } from './backup.ts'
import {
  type AddCommand,
  type CommandEnvironment,
  CommandFailed,
  type ExitCode,
  exitCodes,
  type Terminal,
  Unconfirmed,
} from './command.ts'
import { addDoctor } from './doctor/doctor.ts'
import { addExport } from './export/export.ts'
import { addHealthcheck } from './healthcheck.ts'
import { addImport } from './import/import.ts'
import { addMigrateTo } from './migrate-to.ts'
import { addResetPassword } from './reset-password.ts'
import { addRestore } from './restore.ts'
import { addRotateKey } from './rotate-key.ts'
import { addVersion } from './version.ts'

/** All commands, in the order in which the help lists them. */
const commands: readonly AddCommand[] = [
  addApply,
  addAudit,
  addBackup,
  addRestore,
  addMigrateTo,
  addRotateKey,
  addDoctor,
  addExport,
  addImport,
  addResetPassword,
  addHealthcheck,
  addVersion,
]

const startHint = programName.startsWith('npm ')
  ? 'npm start starts the server.'
  : `Without a command, ${programName} starts the server.`

const footer = `
Run a command where the server runs, with the same DATA_DIR or DATABASE_URL. ${startHint}
"${programName} help <command>" explains a command and shows examples.

Exit codes: 0 done, 1 failed or faults found, 2 wrong command line, 4 not confirmed, 5 differences found (if asked), 78 wrong configuration.`

/** Runs a command and returns the exit code. Throws errors whose messages are sentences for the operator. */
export async function runCommand(args: readonly string[], environment: CommandEnvironment): Promise<number> {
  let code: ExitCode = exitCodes.done
  const terminal: Terminal = {
    ...environment,
    print: (line) => void environment.out.write(`${line}\n`),
    note: (line) => void environment.err.write(`${line}\n`),
    exit: (given) => {
      code = given
    },
  }
  const program = new Command(programName)
    .description('Commands for an installation of Tollgate.')
    .version(version, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'explain the command and show examples')
    .helpCommand('help [command]', 'explain a command and show examples')
    .addHelpText('after', footer)
    .showSuggestionAfterError()
    .configureOutput({
      writeOut: (text) => void environment.out.write(text),
      writeErr: (text) => void environment.err.write(text),
    })
    .exitOverride()
  for (const add of commands) add(program, terminal)
  try {
    await program.parseAsync(args, { from: 'user' })
  } catch (error) {
    if (error instanceof Unconfirmed) {
      terminal.note(error.message)
      return exitCodes.unconfirmed
    }
    if (!(error instanceof CommanderError)) throw withAdvice(error)
    // Commander has printed its message or the help already.
    return error.exitCode === 0 ? exitCodes.done : exitCodes.usage
  }
  return code
}

/** Adds advice to an error that reports a full disk or a damaged SQLite file. Other errors are returned unchanged. */
function withAdvice(error: unknown): unknown {
  // These errors already say what to do, and their cause may be about another database than that of the installation.
  if (!(error instanceof Error) || error instanceof CommandFailed || error instanceof ImportFailed) return error
  const cause = error.cause ?? error
  const text = error.message.replace(/\.$/, '')
  if (isDamaged(cause))
    return new CommandFailed(
      `The file of the database is damaged (${text}): restore a backup with "restore --replace". The file was not changed.`,
      { cause: error },
    )
  if (isFull(cause))
    return new CommandFailed(
      `The disk cannot be written (${text}): free some space on the disk of the database, and run the command again. Nothing was changed.`,
      { cause: error },
    )
  return error
}
