import { closeSync, fsyncSync, mkdirSync, openSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Leftover } from './findings.ts'

/** A file of JSON lines for leftovers. Only its owner can read it, because leftovers may contain secrets. */
export interface LeftoverFile {
  readonly path: string
  add(leftover: Leftover): void
  /** Waits until the file is on the disk. */
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
      // `writeSync` may write only a part, without an error, if the disk becomes full.
      writeFileSync(file, `${JSON.stringify(leftover)}\n`)
    },
    close() {
      if (file !== undefined) fsyncSync(file)
      release()
    },
    discard() {
      release()
      rmSync(path, { force: true })
    },
  }

  function release(): void {
    if (file !== undefined) closeSync(file)
    file = undefined
  }
}
