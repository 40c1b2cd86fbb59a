import { setTimeout } from 'node:timers/promises'
import { Option } from 'commander'
import { type ImportPart, importParts } from '../../../contract/api/import.ts'
import { reportLines } from '../../import/report.ts'
import { runImport } from '../../import/run-import.ts'
import type { ImportDeps, ImportOptions, ImportProgress } from '../../jobs/import-engine.ts'
import type { OpenedStore } from '../../store/connection/open-options.ts'
import { type AddCommand, CommandFailed, examples, exitCodes, type Terminal } from '../command.ts'
import { secretsOf, withStore } from '../installed.ts'
import { installationFor } from '../new-installation.ts'
import { importExport, isExportFile, refuseWithExport } from './import-export.ts'
import { importLeftovers } from './import-leftovers.ts'
import { inTurn } from './in-turn.ts'
import { progressView } from './progress.ts'

/** The options as parsed by Commander. */
interface Flags {
  from?: string
  leftovers?: string
  logsFrom?: string
  litellmConfig?: string
  only?: ImportPart[]
  since?: number
  dryRun?: true
  merge?: true
  follow?: true
  passphraseFile?: string
  json?: true
}

export const addImport: AddCommand = (program, terminal) => {
  program
    .command('import')
    .summary("import the database of one-api, new-api, one-hub, Laisky's one-api or LiteLLM")
    .description(
      "Imports users, tokens, channels, redemption codes, options, prices and the log of one-api (0.5 and 0.6), new-api, one-hub, Laisky's one-api or LiteLLM. The source is a SQLite file, MySQL, MariaDB or PostgreSQL, or LiteLLM's config.yaml, and is only read. What LiteLLM sealed is opened with LITELLM_SALT_KEY, or LITELLM_MASTER_KEY if it has no salt key. Keys, passwords and codes go on working. A run that breaks off is continued by the next one, and a later run imports what is new. docs/moving.md describes the whole way.",
    )
    .option(
      '--from <source>',
      'path of a SQLite file, of config.yaml or of an export of Tollgate, postgres://… or mysql://…',
    )
    .option('--logs-from <source>', 'the log, if it is in a database of its own')
    .option('--litellm-config <file>', "LiteLLM's config.yaml, beside its database")
    .option('--dry-run', 'report what would happen, and change nothing')
    .addOption(new Option('--only <parts>', `comma-separated parts: ${importParts.join(', ')}`).argParser(partsOf))
    .addOption(
      new Option('--since <date>', 'only log rows from this date on, such as 2026-01-31 (UTC)').argParser(dateOf),
    )
    .option('--merge', 'import in addition to the existing data, with new ids')
    .option('--follow', 'after that, import new data every two seconds, until stopped')
    .option('--leftovers <file>', 'take in what an earlier import left over and this version knows')
    .option('--passphrase-file <file>', 'a file with the passphrase of an export of Tollgate')
    .option('--json', 'print the report as JSON')
    .addHelpText(
      'after',
      examples(
        [
          "import -- --from 'postgres://user:password@host/litellm' --litellm-config config.yaml",
          'import from LiteLLM',
        ],
        ['import -- --from /data/one-api.db --dry-run', 'report what would happen'],
        ['import -- --from /data/one-api.db', 'import a SQLite file'],
        ["import -- --from 'mysql://user:password@host:3306/oneapi'", 'import from MySQL'],
        [
          "import -- --from 'postgres://user:password@host/newapi' --since 2026-01-01",
          'with the log of this year only',
        ],
        [
          'import -- --leftovers data/imports/new-api-1-1790000000000.jsonl',
          'take in what an earlier version had no place for',
        ],
        ['import -- --from all.jsonl --passphrase-file pass.txt', 'restore an export of Tollgate'],
        ['import -- --from /data/one-api.db --only channels,options --merge', 'parts, into an installation in use'],
      ),
    )
    .action((flags: Flags) => run(flags, terminal))
}

async function run(flags: Flags, terminal: Terminal): Promise<void> {
  if ((flags.from === undefined) === (flags.leftovers === undefined))
    throw new CommandFailed('Say where to import from: either --from or --leftovers.')
  if (flags.follow && flags.dryRun) throw new CommandFailed('--follow imports, so it cannot be used with --dry-run.')
  if (flags.leftovers !== undefined) return importLeftovers(terminal, flags.leftovers, flags)
  const from = flags.from ?? ''
  await using target = await installationFor(terminal, { dryRun: flags.dryRun ?? false })
  const { config, secretKey } = target
  const options: ImportOptions = {
    from,
    logsFrom: flags.logsFrom,
    litellmConfig: flags.litellmConfig,
    only: new Set(flags.only),
    since: flags.since ?? 0,
    merge: flags.merge ?? false,
    dryRun: flags.dryRun ?? false,
    dataDir: config.dataDir,
    waitsForOpen: flags.follow ?? false,
  }
  const work = async (store: OpenedStore) => {
    const secrets = await secretsOf(store, secretKey)
    if (isExportFile(from)) {
      refuseWithExport({
        '--dry-run': flags.dryRun,
        '--only': flags.only,
        '--since': flags.since,
        '--merge': flags.merge,
        '--follow': flags.follow,
        '--logs-from': flags.logsFrom,
        '--litellm-config': flags.litellmConfig,
      })
      await importExport(
        terminal,
        { store, secrets },
        { ...flags, from, passphraseFile: flags.passphraseFile, json: flags.json ?? false },
      )
      return
    }
    const deps = { store, secrets, nowMs: Date.now, variable: variableOf(terminal) }
    await inTurn(store, options, (signal, tell) => imported({ ...deps, signal, tell }, { flags, options, terminal }))
  }
  try {
    await withStore(config, work)
  } catch (error) {
    await target.discard()
    throw error
  }
}

/**
 * Imports and prints the report. If `--follow` is given, continues to import new data from the source until the process
 * is ended.
 */
async function imported(
  { tell, ...deps }: Omit<ImportDeps, 'progress'> & { tell: ImportDeps['progress'] },
  { flags, options, terminal }: { flags: Flags; options: ImportOptions; terminal: Terminal },
): Promise<void> {
  const view = progressView(terminal)
  const progress = (step: ImportProgress) => {
    view.show(step)
    tell(step)
  }
  const report = await runImport({ ...deps, progress }, options).finally(view.end)
  if (flags.json) terminal.print(JSON.stringify(report))
  else for (const line of reportLines(report)) terminal.print(line)
  const wrong = report.sums.some(({ there, corrected, here }) => there + corrected !== here)
  if (wrong) terminal.exit(exitCodes.failed)
  if (flags.follow) await follow({ ...deps, progress: tell }, options, terminal)
}

/**
 * Returns a function that reads the environment variables to which LiteLLM's configuration refers. The function returns
 * undefined if a variable is not set.
 */
function variableOf({ variable }: Terminal): (name: string) => string | undefined {
  return (name) => {
    try {
      return variable(name)
    } catch {
      return undefined
    }
  }
}

/** The pause before the source is read again. */
const followMs = 2000

/** Repeatedly imports new data from the source, until the process receives a signal to end. */
async function follow(deps: ImportDeps, options: ImportOptions, { note }: Terminal): Promise<void> {
  const stopping = new AbortController()
  const stop = () => stopping.abort()
  process.once('SIGINT', stop).once('SIGTERM', stop)
  note('Following the source. Stop its program, wait for the next line, and then end this command with Ctrl-C.')
  while (!stopping.signal.aborted) {
    await setTimeout(followMs, undefined, { signal: stopping.signal }).catch(() => undefined)
    // The last pass does not wait for open calls. It imports their rows, too, because these calls will no longer be
    // settled.
    const waitsForOpen = !stopping.signal.aborted
    const { added, changedMeanwhile, openCharges } = await runImport(deps, { ...options, waitsForOpen })
    const what = [
      counted(added.logs, 'log row'),
      counted(added.users, 'user'),
      counted(added.tokens, 'token'),
      counted(added.channels, 'channel'),
    ].join(', ')
    const state = changedMeanwhile
      ? 'more is coming'
      : openCharges
        ? `waiting for ${counted(openCharges, 'open call')}`
        : 'up to date'
    note(`${new Date(deps.nowMs()).toISOString()} ${what}; ${state}`)
  }
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`
}

function partsOf(text: string): ImportPart[] {
  return text.split(',').map((each) => {
    const part = importParts.find((name) => name === each.trim())
    if (!part) throw new CommandFailed(`"${each.trim()}" is not a part. The parts are ${importParts.join(', ')}.`)
    return part
  })
}

function dateOf(text: string): number {
  const time = Date.parse(text)
  if (Number.isNaN(time)) throw new CommandFailed(`"${text}" is not a date. Write it as 2026-01-31.`)
  return Math.floor(time / 1000)
}
