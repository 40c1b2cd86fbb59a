import { closeSync, mkdirSync, openSync, rmSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Leftover } from './findings.ts'

/** A file of JSON lines for leftovers. Only its owner can read it, because leftovers may contain secrets. */
export interface LeftoverFile {
  readonly path: string
  add(leftover: Leftover): void
  close(): void
  /** Deletes the file after an import that failed or was cancelled. */
  discard(): void
}

/** The file is created when the first row is added. */
export function createLeftoverFile(path: string): LeftoverFile {
  let file: number | undefined
  return {
    path,
    add(leftover) {
      if (file === undefined) {
        mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
        file = openSync(path, 'w', 0o600)
      }
      writeSync(file, `${JSON.stringify(leftover)}\n`)
    },
    close() {
      if (file !== undefined) closeSync(file)
      file = undefined
    },
    discard() {
      this.close()
      rmSync(path, { force: true })
    },
  }
}
