import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** The files at a path below `base`, always in the same order. */
function filesAt(base, path) {
  const entry = statSync(join(base, path), { throwIfNoEntry: false })
  if (!entry?.isDirectory()) return entry ? [path] : []
  const names = readdirSync(join(base, path)).toSorted()
  return names.flatMap((name) => filesAt(base, `${path}/${name}`))
}

/**
 * A fingerprint that changes if one of these files or folders is changed, removed or added. It depends on contents and
 * not on times, because an archive that is extracted over an installation may contain changed files that are older than
 * the build.
 */
export function fingerprint(base, paths) {
  const hash = createHash('sha256')
  for (const path of paths.flatMap((each) => filesAt(base, each))) {
    const content = readFileSync(join(base, path))
    hash.update(`${path}\0${content.length}\0`).update(content)
  }
  return hash.digest('hex')
}
