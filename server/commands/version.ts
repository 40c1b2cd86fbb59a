import { version } from '../version.ts'
import { type AddCommand, examples } from './command.ts'

export const addVersion: AddCommand = (program, terminal) => {
  program
    .command('version')
    .summary('print the version of Tollgate and of its runtime')
    .description('Prints the version of Tollgate and of the runtime that it runs on.')
    .option('--json', 'print the versions as JSON')
    .addHelpText('after', examples(['version', 'for a bug report'], ['version -- --json', 'for a program to read']))
    .action(({ json }: { json?: true }) => {
      const facts = { tollgate: version, bun: process.versions['bun'], platform: `${process.platform}-${process.arch}` }
      terminal.print(json ? JSON.stringify(facts) : `Tollgate ${facts.tollgate} (Bun ${facts.bun}, ${facts.platform})`)
    })
}
