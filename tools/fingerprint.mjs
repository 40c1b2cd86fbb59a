import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** The files at a path under `base`, always in the same order. */
function filesAt(base, path) {
  const entry = statSync(join(base, path), { throwIfNoEntry: false })
  if (!entry?.isDirectory()) return entry ? [path] : []
  const names = readdirSync(join(base, path)).toSorted()
  return names.flatMap((name) => filesAt(base, `${path}/${name}`))
}

/**
 * A fingerprint that changes if one of these files or folders changes, is removed or is added. It covers contents,
 * because an archive extracted over an installation brings files that are older than the build.
 */
export function fingerprint(base, paths) {
  const hash = createHash('sha256')
  for (const path of paths.flatMap((each) => filesAt(base, each))) {
    const content = readFileSync(join(base, path))
    hash.update(`${path}\0${content.length}\0`).update(content)
  }
  return hash.digest('hex')
}
