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
// are bundles of their own, which a process loads only if it runs them. So a supervisor stays small, and a server does
// not carry the packages of the commands in its memory.

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
  // Opens the port once before any worker does, so that a port that cannot be opened is reported once and not by every
  // worker.
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
 * The server's own command, run in a process of its own. Prints what is wrong with a SQLite database and returns 3 if
 * anything is wrong. Throws if that cannot be determined.
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
 * Replaces this process by one with a complete environment, so that no process has to wait for a single server. Returns
 * if that is impossible: on Windows, or if a parent talks to this process.
 */
function becomeServer(launch: Launch): void {
  if (process.execve === undefined || process.platform === 'win32' || process.connected) return
  try {
    process.execve(process.execPath, [process.execPath, ...ownProgram], launch.complete())
  } catch {
    // The server runs as a child of this process instead.
  }
}

/**
 * Starts the workers, all on one port, and passes signals on to them. A worker that dies is replaced, as often as
 * necessary. But if a worker dies before any worker has started to serve, a new one would fail, too, so the service
 * ends.
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
  // The launcher was killed. The workers notice through their own channels that this process is gone, and release the
  // port.
  process.on('disconnect', () => process.exit(1))
  for (let index = 0; index < count; index++) start(index)
}

try {
  await main()
} catch (error) {
  console.error(`${process.argv[2] === undefined ? 'Tollgate cannot start: ' : ''}${faultOf(error)}.`)
  process.exit(1)
}
