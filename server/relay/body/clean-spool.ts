import { readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'

/** No call uses its upload for longer than this, so an older file must come from a process that was killed. */
const longestCallMs = 6 * 3_600_000

/** Removes spool files that a killed process left behind. Does nothing if the folder does not exist. */
export async function cleanSpool(folder: string, nowMs: number): Promise<void> {
  const names = await readdir(folder).catch(() => [])
  for (const name of names) {
    const file = join(folder, name)
    const stats = await stat(file).catch(() => undefined)
    if (stats && nowMs - stats.mtimeMs > longestCallMs) await rm(file, { force: true })
  }
}
