import { readFileSync } from 'node:fs'
import { CommandFailed } from './command.ts'

/** The content of a file given by an option. Throws CommandFailed with one sentence if it cannot be read. */
export function readGivenFile(file: string): Buffer {
  try {
    return readFileSync(file)
  } catch (error) {
    throw new CommandFailed(`The file ${file} cannot be read (${(error as Error).message}).`)
  }
}
