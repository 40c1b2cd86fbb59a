import {
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { damagedBackup } from '../backup/backup-error.ts'
import type { BackupFacts } from '../backup/contents.ts'
import type { CommandConfig } from '../config.ts'
import { createSecrets } from '../lib/secrets/secrets.ts'
import { CommandFailed } from './command.ts'
import { fileTime } from './file-time.ts'

/** The value by which a database recognizes its secret key. */
export function checkOf(key: string): string {
  return createSecrets(key).fingerprint('check', 'check')
}

/**
 * The secret key that must be written for a restored database; undefined if the correct key is already in place. If
 * there is no correct key, throws CommandFailed with a message that says what to do.
 */
export function keyToWrite({ existingKey }: CommandConfig, facts: BackupFacts): string | undefined {
  const { secret_check: check, secret_key: included } = facts
  if (check === undefined || (existingKey && checkOf(existingKey.key) === check)) return undefined
  if (included === undefined)
    throw new CommandFailed(
      existingKey
        ? 'The backup was made under another secret key. Set SECRET_KEY (or the file secret.key in DATA_DIR) to the key of the installation that it was made of, and restore again. Nothing was changed.'
        : 'The secret key is missing: it is not in the backup, and there is neither SECRET_KEY nor the file secret.key in DATA_DIR. Put the key of the installation there, and restore again. Nothing was changed.',
    )
  if (checkOf(included) !== check) throw damagedBackup('the secret key in it does not belong to its rows')
  if (existingKey && existingKey.file === undefined)
    throw new CommandFailed(
      'SECRET_KEY is not the secret key of this backup. Unset it, so that the key from the backup is written to DATA_DIR, and restore again. Nothing was changed.',
    )
  return included
}

/**
 * Writes a secret key file in one step. If the file already exists, it is copied first, and the name of the copy is
 * returned.
 */
export function writeKeyFile(file: string, key: string): string | undefined {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  let keptAs: string | undefined
  if (existsSync(file)) {
    keptAs = `${file}.replaced-${fileTime(new Date())}`
    keepKeyFile(file, keptAs)
  }
  writeDurably(`${file}.new`, `${key}\n`)
  renameSync(`${file}.new`, file)
  return keptAs
}

/**
 * Writes a file that only its owner can read, and waits until it is on the disk. If that fails, there is no file, because
 * a part of a key must not be taken for a key.
 */
export function writeDurably(file: string, text: string): void {
  const opened = openSync(file, 'w', 0o600)
  try {
    writeFileSync(opened, text)
    fsyncSync(opened)
  } catch (error) {
    rmSync(file, { force: true })
    throw error
  } finally {
    closeSync(opened)
  }
}

/** Keeps a key file under a second name, without needing space on the disk if the file system allows it. */
export function keepKeyFile(file: string, keptAs: string): void {
  try {
    linkSync(file, keptAs)
  } catch {
    writeDurably(keptAs, readFileSync(file, 'utf8'))
  }
}
