import { statSync } from 'node:fs'

/** Loads the current version of a module of the project, even if it was loaded before and has changed. */
export function loadFresh(path: string): Promise<Record<string, unknown>> {
  return import(`${path}?${statSync(path).mtimeMs}`)
}
