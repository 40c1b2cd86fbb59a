import type { Terminal } from '../command.ts'
import { readGivenFile } from '../given-file.ts'

/**
 * The passphrase of an export, from a file or, if no file is given, from the environment; undefined if there is none.
 */
export function exportPassphrase({ passphrase }: Terminal, file: string | undefined): string | undefined {
  return file === undefined
    ? passphrase()
    : readGivenFile(file)
        .toString()
        .replace(/\r?\n$/, '')
}
