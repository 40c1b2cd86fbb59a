import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** When the file, or the newest file under the folder, was changed, in epoch milliseconds; 0 where there is none. */
export function newest(path) {
  if (!existsSync(path)) return 0
  const stat = statSync(path)
  if (!stat.isDirectory()) return stat.mtimeMs
  return Math.max(stat.mtimeMs, ...readdirSync(path).map((name) => newest(join(path, name))))
}
