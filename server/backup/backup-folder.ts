import { isAbsolute, resolve } from 'node:path'

/** True for a name or path in the data folder and for an absolute path that says where it is, without `..`. */
export function isBackupFolder(folder: string): boolean {
  // A NUL would end the path early, and a backslash separates folders on some systems.
  if (folder.trim() === '' || folder.length > 1000 || /[\0\\]/.test(folder)) return false
  return !folder.split('/').includes('..')
}

/** The absolute path of the folder. Throws if `isBackupFolder` is false, whatever the database says. */
export function backupFolder(dataDir: string, folder: string): string {
  if (!isBackupFolder(folder)) throw new Error('BackupFolder is not a folder that may be used')
  return isAbsolute(folder) ? resolve(folder) : resolve(dataDir, folder)
}

const nameForm = /^tollgate-\d{8}T\d{6}Z\.backup$/

/** The name of a scheduled backup. */
export function backupName(time: Date): string {
  return `tollgate-${time.toISOString().replace(/[-:]/g, '').slice(0, 15)}Z.backup`
}

/** True for names of scheduled backups. Nothing else is ever deleted. */
export function isBackupName(name: string): boolean {
  return nameForm.test(name)
}
