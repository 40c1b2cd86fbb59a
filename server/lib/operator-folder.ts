import { isAbsolute, resolve } from 'node:path'

/**
 * True for a folder that an option may name: a path relative to the data folder, or an absolute path. Neither may
 * contain `..`.
 */
export function isOperatorFolder(folder: string): boolean {
  // A NUL would end the path early, and on some systems, a backslash separates folders.
  if (folder.trim() === '' || folder.length > 1000 || /[\0\\]/.test(folder)) return false
  return !folder.split('/').includes('..')
}

/**
 * The absolute path of the folder that an option names. Throws if `isOperatorFolder` is false for the folder. The
 * option's value in the database may not have been checked before.
 */
export function operatorFolder(dataDir: string, option: string, folder: string): string {
  if (!isOperatorFolder(folder)) throw new Error(`${option} is not a folder that may be used`)
  return isAbsolute(folder) ? resolve(folder) : resolve(dataDir, folder)
}
