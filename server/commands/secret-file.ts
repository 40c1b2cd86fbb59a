import { readFileSync, realpathSync, statSync } from 'node:fs'
import { isAbsolute, relative } from 'node:path'

const mostBytes = 64 * 1024

/**
 * Reads a secret from a file to which a configuration file refers. A line break at the end is removed. Throws an error
 * whose message is a sentence. Files of the installation itself are refused, so that a configuration file cannot leak
 * the secret key of the installation.
 */
export function secretFile(path: string, dataDir: string): string {
  if (!isAbsolute(path)) throw new Error(`The path of a secret must be absolute, but ${path} is not.`)
  const stats = statSync(path, { throwIfNoEntry: false })
  if (!stats?.isFile()) throw new Error(`There is no file ${path}.`)
  const inside = relative(realpath(dataDir), realpathSync(path))
  if (!inside.startsWith('..') && !isAbsolute(inside))
    throw new Error(`A configuration file must not refer to files of the data folder, such as ${path}.`)
  if (path.startsWith('/proc/')) throw new Error(`A configuration file must not refer to ${path}.`)
  if (stats.size > mostBytes) throw new Error(`${path} is larger than 64 KiB, so it is not a secret.`)
  const text = readFileSync(path, 'utf8').replace(/\r?\n$/, '')
  if (text === '') throw new Error(`${path} is empty.`)
  return text
}

function realpath(path: string): string {
  return statSync(path, { throwIfNoEntry: false }) ? realpathSync(path) : path
}
