import { isCancel, password } from '@clack/prompts'
import type { Command } from 'commander'
import type { BackupSecret } from '../backup/backup-key.ts'
import type { CommandConfig } from '../config.ts'
import { CommandFailed, Unconfirmed } from './command.ts'
import { readGivenFile } from './given-file.ts'

/**
 * The options with which a command receives the passphrase or key of a backup. The passphrase itself is never an
 * argument, because other users of the machine can read the arguments of a process.
 */
export interface SecretOptions {
  passphraseFile?: string
  keyFile?: string
}

/** Adds the options to a command. */
export function addSecretOptions(command: Command): Command {
  return command
    .option('--passphrase-file <file>', 'read the passphrase from the first line of this file')
    .option('--key-file <file>', 'use the bytes of this file in place of a passphrase')
}

/**
 * The passphrase or key for decrypting or encrypting a backup. It comes from the options or from
 * TOLLGATE_BACKUP_PASSPHRASE. Otherwise the user is asked for it on the terminal, twice if it is new. Throws
 * Unconfirmed if there is no terminal.
 */
export async function secretFrom(
  { passphraseFile, keyFile }: SecretOptions,
  { backupPassphrase }: Pick<CommandConfig, 'backupPassphrase'>,
  { isNew }: { isNew: boolean },
): Promise<BackupSecret> {
  if (passphraseFile !== undefined && keyFile !== undefined)
    throw new CommandFailed('Use either --passphrase-file or --key-file.')
  if (keyFile !== undefined) return { keyFile: readGivenFile(keyFile) }
  if (passphraseFile !== undefined) return { passphrase: firstLine(readGivenFile(passphraseFile).toString()) }
  if (backupPassphrase !== undefined) return { passphrase: backupPassphrase }
  if (!process.stdin.isTTY)
    throw new Unconfirmed(
      `A passphrase is needed: use --passphrase-file, --key-file or TOLLGATE_BACKUP_PASSPHRASE${isNew ? ', or --unencrypted for a backup that anybody can read' : ''}.`,
    )
  const passphrase = await ask(isNew ? 'A new passphrase for this backup' : 'The passphrase of this backup')
  if (isNew && (await ask('The same passphrase again')) !== passphrase)
    throw new CommandFailed('The two passphrases are not the same.')
  return { passphrase }
}

async function ask(message: string): Promise<string> {
  const answer = await password({ message, output: process.stderr })
  if (isCancel(answer)) throw new Unconfirmed('No passphrase was given.')
  return answer
}

function firstLine(text: string): string {
  return text.split(/\r?\n/, 1)[0] ?? ''
}
