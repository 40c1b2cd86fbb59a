import {
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  lstatSync,
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
 * Writes a secret key file in one step. If the file already exists, it is kept under another name first, and that name
 * is returned.
 */
export function writeKeyFile(file: string, key: string): string | undefined {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  const keptAs = existsSync(file) ? keepKeyFile(file) : undefined
  writeDurably(`${file}.new`, `${key}\n`)
  renameSync(`${file}.new`, file)
  return keptAs
}

/**
 * Writes a file that only its owner can read, and waits until it is on the disk. With the flag `wx`, throws an error
 * with the code EEXIST if the file already exists. If writing fails, there is no file, because a part of a key must not
 * be taken for a key.
 */
export function writeDurably(file: string, text: string, flag: 'w' | 'wx' = 'w'): void {
  const opened = openSync(file, flag, 0o600)
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

/**
 * Keeps a key file under a second name, which contains the time, and returns that name. Files that are already there
 * are never written to, because each of them may be the only copy of a key.
 */
export function keepKeyFile(file: string): string {
  const first = `${file}.replaced-${fileTime(new Date())}`
  for (let attempt = 1; ; attempt++) {
    const keptAs = attempt === 1 ? first : `${first}-${attempt}`
    if (isKeptAs(file, keptAs)) return keptAs
  }
}

/** Keeps a file under this name. Returns false if another file has the name. */
function isKeptAs(file: string, keptAs: string): boolean {
  try {
    linkOrCopy(file, keptAs)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    // An earlier run in the same second may have kept the file and then failed.
    const [one, other] = [lstatSync(file), lstatSync(keptAs)]
    return one.dev === other.dev && one.ino === other.ino
  }
}

/** Gives a file a second name. Copies it only if the file system has no hard links, because a copy needs space. */
function linkOrCopy(file: string, name: string): void {
  try {
    linkSync(file, name)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') throw error
    writeDurably(name, readFileSync(file, 'utf8'), 'wx')
  }
}
