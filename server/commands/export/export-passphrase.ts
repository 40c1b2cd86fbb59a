import type { Terminal } from '../command.ts'
import { readGivenFile } from '../given-file.ts'

/** The passphrase of an export: that of a file or, without one, of the environment; undefined if there is none. */
export function exportPassphrase({ passphrase }: Terminal, file: string | undefined): string | undefined {
  return file === undefined
    ? passphrase()
    : readGivenFile(file)
        .toString()
        .replace(/\r?\n$/, '')
}
