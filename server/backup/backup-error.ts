/** A backup that cannot be written or read. The message is a sentence for the operator that says what to do. */
export class BackupError extends Error {}

/** The error for a file that was damaged or changed. */
export function damagedBackup(what: string): BackupError {
  return new BackupError(`The backup is damaged (${what}): use another copy of it, or an older backup.`)
}
