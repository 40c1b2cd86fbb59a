import { loadSettings } from '../../settings/settings.ts'
import { type AddCommand, examples, exitCodes, type Terminal } from '../command.ts'
import { withStoreAndKey } from '../installed-with-key.ts'
import { type Check, checked, type Finding } from './check.ts'
import { checkLog, checkLogSink } from './check-log.ts'
import { checkConfiguration, checkDatabase, checkDisk } from './check-machine.ts'
import { checkClock, checkProxy } from './check-outside.ts'
import { checkChannels, checkMail, checkOptions, checkPrices } from './check-settings.ts'

const checks: readonly Check[] = [
  checkConfiguration,
  checkDatabase,
  checkLog,
  checkLogSink,
  checkDisk,
  checkClock,
  checkMail,
  checkChannels,
  checkPrices,
  checkProxy,
  checkOptions,
]

type Line = Finding & { check: string }

export const addDoctor: AddCommand = (program, terminal) => {
  program
    .command('doctor')
    .summary('check the installation and its surroundings, and say what to do')
    .description(
      'Checks the configuration, the database, the disk, the clock, the mail server, channels, prices, the proxy in front of the server and risky options. Each line is ok, warn or fail. Changes nothing and sends no email; each check has a time limit. Ends with 1 if anything fails.',
    )
    .option('--json', 'print the findings as JSON')
    .addHelpText(
      'after',
      examples(['doctor', 'check everything'], ['doctor -- --json', 'the same, for a program to read']),
    )
    .action(({ json }: { json?: true }) => run(terminal, json === true))
}

async function run(terminal: Terminal, json: boolean): Promise<void> {
  const lines = await found(terminal, json).catch((error: unknown): Line[] => {
    const text = error instanceof Error ? error.message.replace(/\.$/, '') : String(error)
    const advice = 'Nothing else can be checked before that works.'
    const line: Line = { check: 'database', state: 'fail', text: `${text}.`, advice }
    if (!json) show(terminal, line)
    return [line]
  })
  const count = (state: Finding['state']) => lines.filter((line) => line.state === state).length
  const counts = { ok: count('ok'), warn: count('warn'), fail: count('fail') }
  if (json) terminal.print(JSON.stringify({ findings: lines, ...counts }))
  else terminal.print(`${counts.ok} ok, ${counts.warn} warnings, ${counts.fail} failures.`)
  if (counts.fail > 0) terminal.exit(exitCodes.failed)
}

/**
 * All findings in the order of the checks. Without JSON, each finding is printed as soon as it and all findings before
 * it are known.
 */
function found(terminal: Terminal, json: boolean): Promise<Line[]> {
  const config = terminal.readConfig()
  return withStoreAndKey(terminal, async ({ store, secrets }) => {
    const unreadable: Line[] = []
    const source = await loadSettings(store, secrets, (text) =>
      unreadable.push({ check: 'options', state: 'fail', text: `${text}.`, advice: 'Save the option again.' }),
    )
    const patient = { config, store, secrets, settings: source.current() }
    const running = checks.map(async (check) =>
      (await checked(check, patient)).map((finding): Line => ({ check: check.name, ...finding })),
    )
    const all: Line[] = []
    for (const findings of running) {
      const own = await findings
      if (!json) for (const line of own) show(terminal, line)
      all.push(...own)
    }
    if (!json) for (const line of unreadable) show(terminal, line)
    return [...all, ...unreadable]
  })
}

function show({ print }: Terminal, { state, check, text, advice }: Line): void {
  print(`${state.padEnd(4)}  ${check}: ${text}`)
  if (advice !== undefined) print(`      ${advice}`)
}
