import { type App, createApp } from './app.ts'
import type { Config } from './config.ts'
import { type Context, createContext } from './context.ts'
import { describeFault } from './errors.ts'
import { loadConsoleFiles } from './http/console-files.ts'
import { upgradeOf } from './http/web-sockets.ts'
import { checkDatabase } from './jobs/database-check.ts'
import { isPostgresUrl } from './lib/network/database-url.ts'
import { listen, type Server } from './listen.ts'
import { createLogger, type Logger, standardOutput } from './log.ts'
import { type Claim, claimDatabase } from './store/connection/lock-sqlite.ts'

const databaseCheckMs = 10_000
const orphanDrainMs = 1000
/**
 * A signal that arrives within this time after the first counts as the same signal. A process can receive one signal
 * twice, because the signal may be sent to the whole process group and a parent process passes it on to its children.
 */
const sameSignalMs = 2000
/** How long callers have to read the end of their responses, in milliseconds. */
const lastWordsMs = 5000

/**
 * Serves the gateway and the console until a signal ends the process. Resolves when the port is open. Throws if the
 * database or the port cannot be claimed, or if the database does not belong to Tollgate.
 */
export async function serve(config: Config): Promise<void> {
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
  // The signal handlers are installed before the server logs that it is listening, because a program that reads this
  // line may send a signal at once.
  endGracefully(config, log, { context, server: door.server, claim })
  log.info(`Tollgate listens on http://${shownHost(config.host)}:${door.server.port}`)
  if (!isPostgresUrl(config.databaseUrl)) lookAtDatabase(log, context)
}

function lookAtDatabase(log: Logger, { metrics }: Context): void {
  checkDatabase({
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
 * Keeps the process running after an uncaught error. By default, the runtime would end it, and thousands of streams
 * with it. Only the work in which the error occurred is lost. A hold that this work leaves open is closed at the next
 * start.
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

/** Opens the port. Requests wait until there is an app to serve them. */
function openDoor(config: Config, log: Logger): { server: Server; open(app: App): void } {
  let app: App | undefined
  const { promise: ready, resolve } = Promise.withResolvers<App>()
  const server = listen(
    config,
    config.workers > 1,
    (request, bun) => {
      const env = {
        // The address is read on demand, because few requests need it and reading it takes time.
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
  // Even if the shutdown fails, the process ends, because the next start needs the port and the database.
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
  // The parent process was killed. Open requests get less time to finish than after a signal.
  process.on('disconnect', () => {
    if (endingSinceMs !== undefined) process.exit(1)
    void endNow(Math.min(orphanDrainMs, config.drainTimeoutMs))
  })
}
