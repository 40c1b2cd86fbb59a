import { once } from 'node:events'
import { createWriteStream, existsSync, openSync, type WriteStream } from 'node:fs'
import { Option } from 'commander'
import { configApi } from '../../../contract/api/config.ts'
import { configText, exportConfig, placeholders, withoutSecrets } from '../../api/config/export-config.ts'
import { epochSeconds, systemClock } from '../../lib/clock.ts'
import { splitList } from '../../lib/split-list.ts'
import { exportedParts } from '../../store/installation/exported-tables.ts'
import { type AddCommand, CommandFailed, examples, type Terminal } from '../command.ts'
import { withStoreAndKey } from '../installed-with-key.ts'
import { exportPassphrase } from './export-passphrase.ts'
import type { ForeignProgram } from './foreign-schemas.ts'
import { shortestPassphrase } from './seal.ts'
import { writeExport } from './write-export.ts'
import { writeForeign } from './write-foreign.ts'

interface Options {
  format: 'yaml' | 'jsonl' | ForeignProgram
  only?: string
  output?: string
  passphraseFile?: string
  secrets: boolean
}

export const addExport: AddCommand = (program, terminal) => {
  program
    .command('export')
    .summary('write the configuration or the data of the installation to a file')
    .description(
      'yaml: options, groups, prices, channels and alert rules as a configuration file that apply reads. Secrets are written as references to environment variables, never as plain text. jsonl: everything, or some parts, as JSON lines, read on one snapshot while the server runs. Secrets are sealed with a passphrase from --passphrase-file or TOLLGATE_EXPORT_PASSPHRASE, or left out. one-api, new-api: a SQLite database that the program opens as its own, with all keys as plain text.',
    )
    .addOption(
      new Option('--format <format>', 'what is written')
        .choices(['jsonl', 'yaml', 'one-api', 'new-api'])
        .default('jsonl'),
    )
    .option('-o, --output <file>', 'write to a new file and not to standard output')
    .option('--only <parts>', `jsonl: some of ${exportedParts.join(', ')}, separated by commas`)
    .option('--passphrase-file <file>', 'jsonl: a file with the passphrase')
    .option('--no-secrets', 'leave secrets out')
    .addHelpText(
      'after',
      examples(
        ['export -- --format yaml', 'print the configuration'],
        ['export -- --format yaml --no-secrets -o gateway.yaml', 'write it to a file, without references'],
        ['export -- --passphrase-file pass.txt -o all.jsonl', 'everything, with sealed secrets'],
        ['export -- --only users,tokens --no-secrets', 'accounts and tokens, without passwords and keys'],
        ['export -- --format one-api -o one-api.db', 'the way back to one-api'],
      ),
    )
    .action((options: Options) => {
      if (options.format === 'yaml') return exportYaml(terminal, options)
      if (options.format === 'jsonl') return exportLines(terminal, options)
      return exportForeign(terminal, options.format, options.output)
    })
}

async function exportLines(terminal: Terminal, { only, output, passphraseFile, secrets }: Options): Promise<void> {
  const parts = only === undefined ? exportedParts : partsOf(only)
  const passphrase = secrets ? exportPassphrase(terminal, passphraseFile) : undefined
  if (passphrase !== undefined && passphrase.length < shortestPassphrase)
    throw new CommandFailed(`The passphrase must have at least ${shortestPassphrase} characters.`)
  if (secrets && passphrase === undefined)
    throw new CommandFailed(
      'Give a passphrase for the secrets with --passphrase-file or TOLLGATE_EXPORT_PASSPHRASE, or leave them out with --no-secrets.',
    )
  await withStoreAndKey(terminal, async (deps) => {
    const stream = output === undefined ? terminal.out : createNew(output)
    const rows = await writeExport(deps, { parts, passphrase }, async (line) => {
      if (!stream.write(`${line}\n`)) await once(stream, 'drain')
    })
    if (output !== undefined) await new Promise<void>((resolve) => stream.end(resolve))
    terminal.note(`${rows} rows${output === undefined ? '' : ` are in ${output}`}.`)
  })
}

/** Writes a database for another program, and prints which data was not written to it. */
async function exportForeign(terminal: Terminal, program: ForeignProgram, path: string | undefined): Promise<void> {
  if (path === undefined) throw new CommandFailed('Name the database that is written with --output.')
  if (existsSync(path)) throw new CommandFailed(`${path} exists already. Delete it first, or choose another name.`)
  const report = await withStoreAndKey(terminal, (deps) =>
    writeForeign(deps, { program, path, now: epochSeconds(systemClock) }),
  )
  const { users, tokens, channels, redemptions, logs } = report
  terminal.print(
    `${users} users, ${tokens} tokens, ${channels} channels, ${redemptions} codes and ${logs} log rows are in ${path}.`,
  )
  if (report.rootPassword !== undefined) terminal.print(`The password of root is "${report.rootPassword}" there.`)
  if (report.passwords > 0)
    terminal.note(`${report.passwords} people have to reset their password: ${program} does not know argon2id.`)
  if (report.unknownKeys.length > 0)
    terminal.note(
      `Tokens that were imported without their keys and have not been used since are not exported: ${report.unknownKeys.join(', ')}.`,
    )
  if (report.split.length > 0)
    terminal.note(`Channels with several keys became several channels: ${report.split.join(', ')}.`)
  if (report.otherTypes.length > 0)
    terminal.note(`${program} has no such type, so these became OpenAI channels: ${report.otherTypes.join(', ')}.`)
  if (report.skippedLogs > 0)
    terminal.note(`${report.skippedLogs} log rows are of a kind that ${program} does not have.`)
  terminal.note('Access tokens are new, because only their hashes were stored. The file has all keys as plain text.')
}

function partsOf(only: string): string[] {
  const names = splitList(only)
  const unknown = names.find((name) => !exportedParts.includes(name))
  if (unknown !== undefined)
    throw new CommandFailed(`There is no part ${unknown}. Choose from ${exportedParts.join(', ')}.`)
  return exportedParts.filter((part) => names.includes(part))
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
  const stream = createNew(path)
  stream.end(text)
}

/** Creates a file that only its owner can read. */
function createNew(path: string): WriteStream {
  if (existsSync(path)) throw new CommandFailed(`${path} exists already. Delete it first, or choose another name.`)
  return createWriteStream(path, { fd: openSync(path, 'wx', 0o600) })
}
