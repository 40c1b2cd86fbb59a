import { readFileSync, statSync } from 'node:fs'
import { basename } from 'node:path'
import { confirm, isCancel } from '@clack/prompts'
import type { ConfigPlan } from '../../contract/api/config.ts'
import { maxConfigBytes } from '../../contract/config-file.ts'
import { applyConfig } from '../api/config/apply-config.ts'
import { readConfig } from '../api/config/read-config.ts'
import { resolveSecrets } from '../api/config/resolve-secrets.ts'
import { ConfigFault } from '../api/config-kind.ts'
import { type AddCommand, CommandFailed, examples, exitCodes, type Terminal } from './command.ts'
import { commandLine, withStoreAndKey } from './installed-with-key.ts'
import { secretFile } from './secret-file.ts'

interface Options {
  file: string
  prune?: true
  dryRun?: true
  exitCode?: true
  yes?: true
  json?: true
}

export const addApply: AddCommand = (program, terminal) => {
  program
    .command('apply')
    .summary('make the installation what a configuration file says')
    .description(
      'Compares a YAML file with the installation, shows what differs, and changes it in one transaction. Names identify channels, groups, models and alert rules. Sections that the file does not have are not touched.',
    )
    .requiredOption('-f, --file <file>', 'the configuration file; - reads standard input')
    .option('--prune', 'also remove what the sections of the file do not list')
    .option('--dry-run', 'only show what would be changed')
    .option('--exit-code', 'with --dry-run: end with 5 if something would be changed')
    .option('--yes', 'do not ask')
    .option('--json', 'print the plan as JSON')
    .addHelpText(
      'after',
      examples(
        ['apply -- -f gateway.yaml --dry-run', 'show the differences, and change nothing'],
        ['apply -- -f gateway.yaml', 'show them, ask, and apply the file'],
        ['apply -- -f gateway.yaml --prune --yes', 'remove what is not listed, too, without a question'],
        ['apply -- -f gateway.yaml --dry-run --exit-code', 'for CI: end with 5 if there are differences'],
      ),
    )
    .action((options: Options) => run(terminal, options))
}

async function run(terminal: Terminal, options: Options): Promise<void> {
  const { file: path, prune = false, dryRun = false, yes, json } = options
  const { text, source } = readSource(path)
  const { file, locate } = await readConfig(text)
  const dataDir = terminal.readConfig().dataDir
  await withFault(locate, () =>
    withStoreAndKey(terminal, async (deps) => {
      const resolved = resolveSecrets(file, {
        environment: terminal.variable,
        file: (name) => secretFile(name, dataDir),
      })
      const common = { prune, actor: commandLine, source }
      const plan = await applyConfig(deps, resolved, { ...common, dryRun: true })
      if (!json || !dryRun) show(plan, json ? terminal.note : terminal.print)
      if (dryRun) {
        if (json) terminal.print(JSON.stringify(plan))
        if (options.exitCode && plan.changes.length > 0) terminal.exit(exitCodes.different)
        return
      }
      if (plan.changes.length > 0 && !yes && !(await isConfirmed(terminal, plan))) return
      const done = await applyConfig(deps, resolved, { ...common, dryRun: false, agreed: plan.changes })
      if (json) terminal.print(JSON.stringify(done))
      else if (done.applied) terminal.print(`Applied. A running server uses the changes within ten seconds.`)
    }),
  )
}

/** Runs `work`. If it throws a ConfigFault, adds the position in the file to the beginning of the message. */
async function withFault(locate: (path: readonly PropertyKey[]) => string, work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    if (error instanceof ConfigFault && error.path.length > 0)
      throw new CommandFailed(`${locate(error.path)}${error.message}`)
    throw error
  }
}

function readSource(path: string): { text: string; source: string } {
  const isInput = path === '-'
  if (!isInput) {
    const size = statSync(path, { throwIfNoEntry: false })
    if (!size?.isFile()) throw new CommandFailed(`There is no file ${path}.`)
    if (size.size > maxConfigBytes) throw new CommandFailed(`${path} is larger than 4 MiB.`)
  }
  const bytes = readFileSync(isInput ? 0 : path)
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    return { text, source: isInput ? 'standard input' : basename(path).slice(0, 200) }
  } catch {
    throw new CommandFailed(`${isInput ? 'The file' : path} is not UTF-8.`)
  }
}

async function isConfirmed({ note, exit }: Terminal, plan: ConfigPlan): Promise<boolean> {
  if (process.stdin.isTTY) {
    const removed = plan.changes.filter(({ op }) => op === 'remove').length
    const message = `Apply ${plan.changes.length} changes${removed > 0 ? `, ${removed} of them removals` : ''}?`
    const answer = await confirm({ message, initialValue: false, output: process.stderr })
    if (!isCancel(answer) && answer) return true
    note('Nothing was changed.')
  } else note('Nothing was changed: standard input is not a terminal. Add --yes to apply without a question.')
  exit(exitCodes.unconfirmed)
  return false
}

const signs = { add: '+', change: '~', remove: '-' } as const

/** Prints the plan, one line for each change. */
function show({ changes, unlisted }: ConfigPlan, print: (line: string) => void): void {
  for (const { op, section, name, fields } of changes) {
    print(`${signs[op]} ${section}: ${name}`)
    for (const { field, before, after } of fields) {
      const was = before === '' ? '' : `${before} → `
      print(`    ${field}: ${was}${after === '' ? '(none)' : after}`)
    }
  }
  for (const { section, name } of unlisted) print(`  ${section}: ${name} is not in the file and stays`)
  const count = (op: keyof typeof signs) => changes.filter((change) => change.op === op).length
  print(
    changes.length === 0
      ? 'No differences.'
      : `${count('add')} to add, ${count('change')} to change, ${count('remove')} to remove.`,
  )
}
