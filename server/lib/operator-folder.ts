import { isAbsolute, resolve } from 'node:path'

/** True for a name or path in the data folder and for an absolute path that says where it is, without `..`. */
export function isOperatorFolder(folder: string): boolean {
  // A NUL would end the path early, and a backslash separates folders on some systems.
  if (folder.trim() === '' || folder.length > 1000 || /[\0\\]/.test(folder)) return false
  return !folder.split('/').includes('..')
}

/** The absolute path of the folder that an option names. Throws if `isOperatorFolder` is false, whatever the database says. */
export function operatorFolder(dataDir: string, option: string, folder: string): string {
  if (!isOperatorFolder(folder)) throw new Error(`${option} is not a folder that may be used`)
  return isAbsolute(folder) ? resolve(folder) : resolve(dataDir, folder)
}
