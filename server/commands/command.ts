import type { Writable } from 'node:stream'
import type { Command } from 'commander'
import type { CommandConfig } from '../config.ts'
import { programName } from '../lib/program-files.ts'

/** The environment of a command: its configuration, and the streams to which it writes. */
export interface CommandEnvironment {
  /**
   * Reads the configuration from the environment. Ends the process with exit code 78 if the configuration is invalid.
   */
  readConfig(): CommandConfig
  /** The secret key of the installation. Ends the process with exit code 78 if there is none. */
  readSecretKey(): string
  /**
   * Returns an environment variable to which a configuration file refers. Throws an error whose message is a sentence
   * if the variable is not set, or if the file must not refer to it.
   */
  variable(name: string): string
  /** TOLLGATE_EXPORT_PASSPHRASE; undefined if it is not set. */
  passphrase(): string | undefined
  /** Standard output, for results. */
  out: Writable
  /** Standard error, for everything else. */
  err: Writable
}

/** The interface through which a command reads, writes and sets its exit code. */
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

/** The exit codes of the process. They are documented in docs/commands.md. */
export const exitCodes = {
  done: 0,
  /** The command failed and changed nothing, or a check found faults. */
  failed: 1,
  /** The command line is wrong. */
  usage: 2,
  /** The command needed a confirmation that was not given. Nothing was changed. */
  unconfirmed: 4,
  /** A dry run found differences, and the option `--exit-code` was given. */
  different: 5,
} as const

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes]

/** An error whose message is a whole sentence for the operator, without a stack trace. */
export class CommandFailed extends Error {}

/**
 * The command needs a confirmation or a secret, but cannot ask for it without a terminal. The message names the option
 * that provides the confirmation or the secret.
 */
export class Unconfirmed extends CommandFailed {}

/**
 * Returns the part of the help that lists examples, one per line. An example consists of a command and a description.
 * The command is written as it is typed after `npm run tollgate`, with ` -- ` before its options.
 */
export function examples(...lines: readonly (readonly [command: string, meaning: string])[]): string {
  // Only npm needs the separator between its own options and those of the command.
  const isNpm = programName.startsWith('npm ')
  const typed = lines.map(([command, meaning]) => [isNpm ? command : command.replace(' -- ', ' '), meaning] as const)
  const width = Math.max(...typed.map(([command]) => command.length))
  const rows = typed.map(([command, meaning]) => `  ${programName} ${command.padEnd(width)}   ${meaning}`)
  return `\nExamples:\n${rows.join('\n')}`
}
