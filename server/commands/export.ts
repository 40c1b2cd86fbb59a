import { writeFileSync } from 'node:fs'
import { Option } from 'commander'
import { configApi } from '../../contract/api/config.ts'
import { configText, exportConfig, placeholders, withoutSecrets } from '../api/config/export-config.ts'
import { type AddCommand, CommandFailed, examples, type Terminal } from './command.ts'
import { withStoreAndKey } from './installed-with-key.ts'

interface Options {
  format: 'yaml'
  output?: string
  secrets: boolean
}

export const addExport: AddCommand = (program, terminal) => {
  program
    .command('export')
    .summary('write the configuration or the data of the installation to a file')
    .description(
      'Writes options, groups, prices, channels and alert rules as a configuration file that apply reads. Secrets are written as references to environment variables, never as plain text.',
    )
    .addOption(new Option('--format <format>', 'yaml: a configuration file').choices(['yaml']).makeOptionMandatory())
    .option('-o, --output <file>', 'write to a new file and not to standard output')
    .option('--no-secrets', 'leave secrets out; applied to this installation, the file then keeps them as they are')
    .addHelpText(
      'after',
      examples(
        ['export -- --format yaml', 'print the configuration'],
        ['export -- --format yaml --no-secrets -o gateway.yaml', 'write it to a file, without references'],
      ),
    )
    .action((options: Options) => exportYaml(terminal, options))
}

async function exportYaml(terminal: Terminal, { output, secrets }: Options): Promise<void> {
  const text = await withStoreAndKey(terminal, async (deps) => {
    const file = await exportConfig(deps.store.read, deps, secrets ? placeholders() : withoutSecrets)
    const address = file.options?.['ServerAddress'] ?? `http://localhost:${terminal.readConfig().port}`
    return configText(file, `${String(address)}${configApi.schema.path}`)
  })
  if (output === undefined) terminal.print(text.trimEnd())
  else writeNew(output, text)
}

function writeNew(path: string, text: string): void {
  try {
    writeFileSync(path, text, { flag: 'wx', mode: 0o600 })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST')
      throw new CommandFailed(`${path} exists already. Delete it first, or choose another name.`)
    throw error
  }
}
