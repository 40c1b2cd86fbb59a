import { statSync } from 'node:fs'

/** Loads a module of ours as it is now, also when it was loaded before and has changed. */
export function loadFresh(path: string): Promise<Record<string, unknown>> {
  return import(`${path}?${statSync(path).mtimeMs}`)
}
