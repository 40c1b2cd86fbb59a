import type { Writable } from 'node:stream'
import type { Command } from 'commander'
import type { CommandConfig } from '../config.ts'
import { programName } from '../lib/program-files.ts'

/** What a command reads of its environment, and where it writes to. */
export interface CommandEnvironment {
  /** Reads the configuration from the environment; ends the process with exit code 78 if it is not valid. */
  readConfig(): CommandConfig
  /** The secret key of the installation; ends the process with exit code 78 if there is none. */
  readSecretKey(): string
  /** A variable to which a file refers. Throws an error with a sentence if it is not set or not allowed. */
  variable(name: string): string
  /** TOLLGATE_EXPORT_PASSPHRASE; undefined if it is not set. */
  passphrase(): string | undefined
  /** Standard output: results. */
  out: Writable
  /** Standard error: everything that is not the result. */
  err: Writable
}

/** What a command writes to, what it reads, and how it ends. */
export interface Terminal extends CommandEnvironment {
  /** Writes one line to standard output. */
  print(line: string): void
  /** Writes one line to standard error: progress, warnings and everything that is not the result. */
  note(line: string): void
  /** Sets the exit code of the process. A command that does not call this ends with 0. */
  exit(code: ExitCode): void
}

/** Adds one command, with its options, its help and its examples, to the program. */
export type AddCommand = (program: Command, terminal: Terminal) => void

/** What the process ends with. They are documented in docs/commands.md. */
export const exitCodes = {
  done: 0,
  /** The command could not do its work, or a check found faults. The installation is as it was. */
  failed: 1,
  /** The command line is wrong. */
  usage: 2,
  /** The command needed a confirmation and did not get one. Nothing was changed. */
  unconfirmed: 4,
  /** A dry run found differences, and the command was asked to tell. */
  different: 5,
} as const

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes]

/** An error whose message is a whole sentence for the operator, without a stack trace. */
export class CommandFailed extends Error {}

/** The command needed a confirmation or a secret and nobody can be asked. The message names the option that gives it. */
export class Unconfirmed extends CommandFailed {}

/**
 * Help text that lists examples, one per line: the command as it is typed after `npm run tollgate`, with ` -- ` before
 * its options, and what it does.
 */
export function examples(...lines: readonly (readonly [command: string, meaning: string])[]): string {
  // Only npm needs a mark between its own options and those of the command.
  const isNpm = programName.startsWith('npm ')
  const typed = lines.map(([command, meaning]) => [isNpm ? command : command.replace(' -- ', ' '), meaning] as const)
  const width = Math.max(...typed.map(([command]) => command.length))
  const rows = typed.map(([command, meaning]) => `  ${programName} ${command.padEnd(width)}   ${meaning}`)
  return `\nExamples:\n${rows.join('\n')}`
}
