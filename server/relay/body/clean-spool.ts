import { readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'

/** No call reads its upload for longer than this, so an older file was left behind by a process that was killed. */
const longestCallMs = 6 * 3_600_000

/** Removes spool files that a killed process left behind. A folder that does not exist has none. */
export async function cleanSpool(folder: string, nowMs: number): Promise<void> {
  const names = await readdir(folder).catch(() => [])
  for (const name of names) {
    const file = join(folder, name)
    const stats = await stat(file).catch(() => undefined)
    if (stats && nowMs - stats.mtimeMs > longestCallMs) await rm(file, { force: true })
  }
}
