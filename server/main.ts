import { spawn } from 'node:child_process'
import {
  type Config,
  ConfigError,
  exportPassphrase,
  type Launch,
  loadCommandConfig,
  loadCommandSecretKey,
  loadConfig,
  readLaunch,
  referencedVariable,
} from './config.ts'
import { quickCheckCommand } from './jobs/database-check.ts'
import { faultOf } from './lib/fault-of.ts'
import { ownProgram, programUrl } from './lib/program-files.ts'
import { listen } from './listen.ts'
import { quickCheck } from './store/connection/quick-check-sqlite.ts'

// This file starts the programs: the server, the commands, and workers under a supervisor. The server and the commands
// are separate bundles, and a process loads only the one that it runs. Therefore a supervisor needs little memory, and
// a server does not load the packages of the commands.

const restartDelayMs = 1000

async function main(): Promise<void> {
  const command = process.argv[2]
  if (command !== undefined) {
    process.exitCode =
      command === quickCheckCommand
        ? check(read(loadCommandConfig).databaseUrl)
        : await runCommand(process.argv.slice(2))
    return
  }
  const config = read(loadConfig)
  const launch = readLaunch()
  if (launch.isWorker || (config.workers === 1 && launch.isComplete)) {
    await serve(config)
    if (launch.isWorker) process.send?.('serves')
    return
  }
  // Opens the port once before the workers start, so that a port that cannot be opened is reported only once and not by
  // every worker.
  if (config.workers > 1) await listen(config, false, () => new Response()).stop(true)
  else becomeServer(launch)
  supervise(config.workers, launch)
}

async function serve(config: Config): Promise<void> {
  const server: typeof import('./serve.ts') = await import(programUrl('./serve', import.meta.url))
  await server.serve(config)
}

async function runCommand(args: readonly string[]): Promise<number> {
  const commands: typeof import('./commands/run-command.ts') = await import(
    programUrl('./commands/run-command', import.meta.url)
  )
  return commands.runCommand(args, {
    readConfig: () => read(loadCommandConfig),
    readSecretKey: () => read(loadCommandSecretKey),
    variable: referencedVariable,
    passphrase: exportPassphrase,
    out: process.stdout,
    err: process.stderr,
  })
}

/**
 * An internal command that the server runs in a separate process. Prints the faults of a SQLite database, and returns 3
 * if there are any. Throws if the database cannot be checked.
 */
function check(databaseUrl: string): number {
  const faults = quickCheck(databaseUrl)
  process.stdout.write(faults.map((fault) => `${fault}\n`).join(''))
  return faults.length === 0 ? 0 : 3
}

function read<T>(load: () => T): T {
  try {
    return load()
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    for (const fault of error.faults) console.error(`Configuration: ${fault}`)
    process.exit(78)
  }
}

/**
 * Replaces this process by a server with a complete environment, so that no second process has to wait for the server.
 * On Windows, or if a parent process communicates with this process, that is impossible, and the function returns.
 */
function becomeServer(launch: Launch): void {
  if (process.execve === undefined || process.platform === 'win32' || process.connected) return
  try {
    process.execve(process.execPath, [process.execPath, ...ownProgram], launch.complete())
  } catch {
    // If this process cannot be replaced, the server runs as a child of this process.
  }
}

/**
 * Starts the workers, which share one port, and passes signals on to them. A worker that dies is replaced, as often as
 * necessary. If a worker dies before any worker has started to serve, the service ends, because a new worker would fail
 * as well.
 */
function supervise(count: number, launch: Launch): void {
  let ending = false
  let hasServed = false
  let exitCode = 0
  const children = new Set<ReturnType<typeof spawn>>()
  const start = (index: number) => {
    if (ending) return
    const child = spawn(process.execPath, [...ownProgram], {
      stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
      env: launch.forWorker(index),
    })
    children.add(child)
    child.once('message', () => {
      hasServed = true
    })
    child.on('exit', (code) => {
      children.delete(child)
      if (!ending && hasServed && count > 1) {
        setTimeout(() => start(index), restartDelayMs)
        return
      }
      // The first failure determines the exit code, even if other workers end successfully after it.
      exitCode ||= code ?? 1
      if (ending) leaveWhenAlone()
      else end()
    })
  }
  const end = () => {
    ending = true
    for (const child of children) child.kill('SIGTERM')
    leaveWhenAlone()
  }
  const leaveWhenAlone = () => {
    if (children.size === 0) process.exit(exitCode)
  }
  process.on('SIGTERM', end).on('SIGINT', end)
  // The launcher was killed. This process ends, and the workers then release the port, because their channels to this
  // process are closed.
  process.on('disconnect', () => process.exit(1))
  for (let index = 0; index < count; index++) start(index)
}

try {
  await main()
} catch (error) {
  console.error(`${process.argv[2] === undefined ? 'Tollgate cannot start: ' : ''}${faultOf(error)}.`)
  process.exit(1)
}
