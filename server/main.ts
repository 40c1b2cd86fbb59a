import { spawn } from 'node:child_process'
import { extname } from 'node:path'
import { type App, createApp } from './app.ts'
import {
  type Config,
  ConfigError,
  type Launch,
  loadCommandConfig,
  loadConfig,
  loadSecretKey,
  readLaunch,
} from './config.ts'
import { type Context, createContext } from './context.ts'
import { describeFault } from './errors.ts'
import { loadConsoleFiles } from './http/console-files.ts'
import { upgradeOf, webSockets } from './http/web-sockets.ts'
import { checkDatabase, quickCheckCommand } from './jobs/database-check.ts'
import { isPostgresUrl } from './lib/network/database-url.ts'
import type { SocketSession } from './lib/network/socket-session.ts'
import { createLogger, type Logger, standardOutput } from './log.ts'
import { type Claim, claimDatabase } from './store/connection/lock-sqlite.ts'
import { quickCheck } from './store/connection/quick-check-sqlite.ts'

const restartDelayMs = 1000
const orphanDrainMs = 1000
const databaseCheckMs = 10_000
/**
 * Signals this soon after the first count as the same signal: a whole process group receives a signal, and each process
 * in the group passes it on.
 */
const sameSignalMs = 2000
/** How long callers have to read the end of their responses. */
const lastWordsMs = 5000

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
  supervise(config.workers, launch)
}

/**
 * The commands are a program of their own, which is loaded only to run one: a server would carry their packages in its
 * memory.
 */
async function runCommand(args: readonly string[]): Promise<number> {
  const file = extname(import.meta.path) === '.ts' ? './commands/run-command.ts' : './run-command.js'
  const commands: typeof import('./commands/run-command.ts') = await import(new URL(file, import.meta.url).href)
  return commands.runCommand(args, {
    readConfig: () => read(loadCommandConfig),
    readSecretKey: (config) => read(() => loadSecretKey(config)),
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
    const child = spawn(process.execPath, process.argv.slice(1), {
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

async function serve(config: Config): Promise<void> {
  const log = createLogger(config.logLevel, standardOutput())
  // The database and the port are claimed before anything is created, because a process that cannot get them must not
  // print a password.
  const claim = await claimDatabase(config.databaseUrl)
  const door = openDoor(config, log)
  const context = await createContext(config, log)
  if (context.generatedPassword !== undefined) {
    console.log(
      `\nA first account was created: user "root", password "${context.generatedPassword}". The password is shown only this once.\n`,
    )
  }
  const consoleFiles = loadConsoleFiles(config.consoleDir, config.basePath, context.api.settings.current)
  const { metricsToken, basePath } = config
  outliveFaults(context)
  door.open(createApp(context, { metricsToken, basePath, console: consoleFiles }))
  // The signal handlers are installed before the server announces that it is listening, because whoever reads the
  // announcement may send a signal at once.
  endGracefully(config, log, { context, server: door.server, claim })
  log.info(`Tollgate listens on http://${shownHost(config.host)}:${door.server.port}`)
  if (!isPostgresUrl(config.databaseUrl)) lookAtDatabase(log, context)
}

function lookAtDatabase(log: Logger, { metrics }: Context): void {
  checkDatabase({
    program: process.argv[1] ?? '',
    timeMs: databaseCheckMs,
    report(state, detail) {
      metrics.databaseChecked(state)
      if (state === 'sound') log.info('the database check found no damage')
      else if (state === 'damaged') log.error(`the database is damaged; restore it from a backup: ${detail}`)
      else log.warn(`the database could not be checked for damage: ${detail}; run the audit command`)
    },
  })
}

/**
 * A single fault must not end thousands of streams, as the runtime would do on an unhandled rejection. The work in
 * which the fault occurred is lost. A hold that this work leaves behind is closed at the next start.
 */
function outliveFaults({ metrics }: Context): void {
  for (const kind of ['unhandledRejection', 'uncaughtException'] as const)
    process.on(kind, (fault: unknown) => metrics.events.faultUncaught({ cause: describeFault(fault) }))
}

/** The host as it is written in a URL. */
function shownHost(host: string): string {
  if (host === '0.0.0.0' || host === '::') return 'localhost'
  return host.includes(':') ? `[${host}]` : host
}

type Server = Bun.Server<SocketSession>

/** Opens the port. Requests wait until there is an app to serve them. */
function openDoor(config: Config, log: Logger): { server: Server; open(app: App): void } {
  let app: App | undefined
  const { promise: ready, resolve } = Promise.withResolvers<App>()
  const server = listen(
    config,
    config.workers > 1,
    (request, bun) => {
      const env = {
        // Few requests need the address, and reading it takes time.
        get socketAddress() {
          return bun.requestIP(request)?.address
        },
        get upgrade() {
          return upgradeOf(bun, request)
        },
        mayBeSilent(isAllowed: boolean) {
          bun.timeout(request, isAllowed ? 0 : config.idleTimeoutSeconds)
        },
      }
      return app ? app.fetch(request, env) : ready.then((each) => each.fetch(request, env))
    },
    (error) => log.error({ err: error }, 'unhandled error'),
  )
  return {
    server,
    open(newApp) {
      app = newApp
      resolve(newApp)
    },
  }
}

function listen(
  { port, host, idleTimeoutSeconds }: Config,
  isShared: boolean,
  fetch: (request: Request, server: Server) => Response | Promise<Response>,
  report: (error: unknown) => void = () => undefined,
): Server {
  try {
    return Bun.serve({
      port,
      hostname: host,
      // By default, development mode is on unless NODE_ENV is production, which the image sets and `npm start` does
      // not.
      development: false,
      reusePort: isShared,
      // This applies to connections without a request in progress; requests in progress have their own limits.
      idleTimeout: idleTimeoutSeconds,
      // The relay returns 413 itself, at a limit that is set by an option.
      maxRequestBodySize: Number.MAX_SAFE_INTEGER,
      fetch,
      websocket: webSockets,
      error: (error) => {
        report(error)
        return Response.json(
          {
            error: { message: 'an internal error occurred', type: 'one_api_error', param: '', code: 'internal_error' },
          },
          { status: 500 },
        )
      },
    })
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code
    if (code === 'EADDRINUSE') throw new Error(`port ${port} is in use by another program; set PORT to a free one`)
    if (code === 'EACCES') throw new Error(`port ${port} may not be used by this account; set PORT to one above 1023`)
    // ENOENT: an unknown name; EINVAL: a name that cannot be looked up.
    if (code === 'EADDRNOTAVAIL' || code === 'ENOENT' || code === 'EINVAL')
      throw new Error(`HOST is "${host}", which is no address of this machine`)
    throw error
  }
}

interface Running {
  context: Context
  server: Server
  claim: Claim
}

function endGracefully(config: Config, log: Logger, { context, server, claim }: Running): void {
  let endingSinceMs: number | undefined
  const end = async (drainTimeoutMs: number) => {
    endingSinceMs = performance.now()
    context.drain()
    log.info('shutting down; open calls may finish')
    const finished = server.stop(false)
    const late = new Promise((resolve) => setTimeout(resolve, drainTimeoutMs))
    await Promise.race([finished, late])
    await context.cutOff()
    // Gives callers time to receive the end of their responses.
    await Promise.race([finished, new Promise((resolve) => setTimeout(resolve, lastWordsMs))])
    await server.stop(true)
    await context.close()
  }
  // If anything goes wrong during shutdown, the process still ends, because the next start needs the port and the
  // database.
  const endNow = (drainTimeoutMs: number) =>
    end(drainTimeoutMs).then(
      () => leave(0),
      (error: unknown) => {
        log.error(`shutdown failed: ${describeFault(error)}`)
        leave(1)
      },
    )
  const leave = (code: number) => {
    try {
      claim.release()
    } finally {
      process.exit(code)
    }
  }
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      if (endingSinceMs === undefined) void endNow(config.drainTimeoutMs)
      // A second signal means that the process must end now.
      else if (performance.now() - endingSinceMs >= sameSignalMs) process.exit(1)
    })
  }
  // The parent was killed, so the wait is shorter than when a person ends the program.
  process.on('disconnect', () => {
    if (endingSinceMs !== undefined) process.exit(1)
    void endNow(Math.min(orphanDrainMs, config.drainTimeoutMs))
  })
}

function faultOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error)
  const code = String((error as NodeJS.ErrnoException).code)
  // Until it serves requests, the process connects to nothing but the database.
  if (['ECONNREFUSED', 'ECONNRESET', 'ENOTFOUND', 'EAI_AGAIN', 'ETIMEDOUT', 'EHOSTUNREACH'].includes(code))
    return `the database cannot be reached (${message}); check DATABASE_URL`
  // PostgreSQL's classes of codes for "access denied" and "no such database", and the driver's text for a missing
  // password.
  if (/^(28|3D)/.test(code)) return `the database refuses the connection (${message}); check DATABASE_URL`
  if (message.startsWith('SASL')) return 'the database wants a password, and DATABASE_URL has none'
  return message.replace(/\.$/, '')
}

try {
  await main()
} catch (error) {
  console.error(`${process.argv[2] === undefined ? 'Tollgate cannot start: ' : ''}${faultOf(error)}.`)
  process.exit(1)
}
