import { createReadStream, statSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { takeLeftovers } from '../../import/take-leftovers.ts'
import { CommandFailed, type Terminal } from '../command.ts'
import { secretsOf, withStore } from '../installed.ts'

/**
 * Imports leftovers: data that an earlier import stored in a file because its version did not support the data. Prints
 * what was imported, and what this version does not support either. Running it again changes nothing.
 */
export async function importLeftovers(
  terminal: Terminal,
  file: string,
  { dryRun = false, json = false }: { dryRun?: boolean; json?: boolean },
): Promise<void> {
  if (!statSync(file, { throwIfNoEntry: false })?.isFile())
    throw new CommandFailed(`There is no file ${file}. Leftovers are in the folder imports of DATA_DIR.`)
  await withStore(terminal.readConfig(), async (store) => {
    const secrets = await secretsOf(store, terminal.readSecretKey())
    const report = await takeLeftovers({ store, secrets, nowMs: Date.now }, linesOf(file), dryRun)
    if (json) return terminal.print(JSON.stringify(report))
    terminal.print(`${dryRun ? 'To take in' : 'Taken in'}: ${report.taken.join(', ') || 'nothing'}`)
    if (report.set.length > 0) terminal.print(`Already set here, so unchanged: ${report.set.join(', ')}`)
    for (const { kind, count } of report.left) terminal.print(`Still left over: ${count} of ${kind}`)
  })
}

async function* linesOf(file: string): AsyncGenerator<string> {
  yield* createInterface({ input: createReadStream(file), crlfDelay: Number.POSITIVE_INFINITY })
}
