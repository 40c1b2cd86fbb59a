import { spawn } from 'node:child_process'
import { createApp } from './app.ts'
import { runCommand } from './commands/run-command.ts'
import { type Config, ConfigError, type Launch, loadConfig, readLaunch } from './config.ts'
import { type Context, createContext } from './context.ts'
import { createLogger, type Logger } from './log.ts'

const restartDelayMs = 1000
const orphanDrainMs = 1000

async function main(): Promise<void> {
  const command = process.argv[2]
  if (command !== undefined) {
    process.exitCode = await runCommand(command, process.argv.slice(3), readConfig)
    return
  }
  const config = readConfig()
  const launch = readLaunch()
  if (!launch.isWorker && (config.workers > 1 || !launch.isComplete)) supervise(config.workers, launch)
  else await serve(config)
}

function readConfig(): Config {
  try {
    return loadConfig()
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    for (const fault of error.faults) console.error(`Configuration: ${fault}`)
    process.exit(78)
  }
}

/** Starts the workers, all on one port, and passes signals on. A worker that dies is replaced. */
function supervise(count: number, launch: Launch): void {
  let ending = false
  const children = new Set<ReturnType<typeof spawn>>()
  const start = (index: number) => {
    const child = spawn(process.execPath, process.argv.slice(1), {
      stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
      env: launch.forWorker(index),
    })
    children.add(child)
    const startedAtMs = Date.now()
    child.on('exit', (code) => {
      children.delete(child)
      const failedAtStart = code !== 0 && Date.now() - startedAtMs < 5 * restartDelayMs
      if (!ending && count > 1 && !failedAtStart) setTimeout(() => start(index), restartDelayMs)
      else if (children.size === 0 || failedAtStart) end(code ?? 1)
    })
  }
  const end = (code: number) => {
    ending = true
    for (const child of children) child.kill('SIGTERM')
    if (children.size === 0) process.exit(code)
    process.exitCode = code
  }
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      ending = true
      for (const child of children) child.kill('SIGTERM')
    })
  }
  for (let index = 0; index < count; index++) start(index)
}

async function serve(config: Config): Promise<void> {
  const log = createLogger(config.logLevel)
  const context = await createContext(config, log)
  if (context.generatedPassword !== undefined) {
    console.log(
      `\nA first account was made: user "root", password "${context.generatedPassword}". It is shown only this once.\n`,
    )
  }
  const app = createApp(context, { metricsToken: config.metricsToken })
  const server = Bun.serve({
    port: config.port,
    hostname: config.host,
    reusePort: config.workers > 1,
    // Streams may be silent for long; the relay has its own limits.
    idleTimeout: 0,
    // The relay answers 413 itself, by an option.
    maxRequestBodySize: Number.MAX_SAFE_INTEGER,
    fetch: (request, bun) =>
      app.fetch(request, {
        // Asked for by few requests, and not free.
        get socketAddress() {
          return bun.requestIP(request)?.address
        },
      }),
    error: (error) => {
      log.error({ err: error }, 'unhandled error')
      return Response.json(
        { error: { message: 'an internal error occurred', type: 'one_api_error', param: '', code: 'internal_error' } },
        { status: 500 },
      )
    },
  })
  log.info(`Tollgate listens on http://${config.host === '0.0.0.0' ? 'localhost' : config.host}:${server.port}`)
  endGracefully(config, log, context, server)
}

function endGracefully(config: Config, log: Logger, context: Context, server: ReturnType<typeof Bun.serve>): void {
  let ending = false
  const end = async (drainTimeoutMs: number) => {
    // A second signal means: now.
    if (ending) process.exit(1)
    ending = true
    context.drain()
    log.info('shutting down: open calls may finish')
    const finished = server.stop(false)
    const late = new Promise((resolve) => setTimeout(resolve, drainTimeoutMs))
    await Promise.race([finished, late])
    await server.stop(true)
    await context.close()
    process.exit(0)
  }
  process.on('SIGTERM', () => void end(config.drainTimeoutMs))
  process.on('SIGINT', () => void end(config.drainTimeoutMs))
  // The parent was killed: whoever starts it again needs the port soon.
  process.on('disconnect', () => void end(Math.min(orphanDrainMs, config.drainTimeoutMs)))
}

function startFault(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error)
  const code = String((error as NodeJS.ErrnoException).code)
  if (code === 'EADDRINUSE') return 'The port is in use by another program; set PORT to a free one.'
  // Until it listens, the process connects to nothing but the database.
  if (['ECONNREFUSED', 'ECONNRESET', 'ENOTFOUND', 'EAI_AGAIN', 'ETIMEDOUT', 'EHOSTUNREACH'].includes(code))
    return `Tollgate cannot start: the database cannot be reached (${message}); check DATABASE_URL.`
  return `Tollgate cannot start: ${message}`
}

try {
  await main()
} catch (error) {
  console.error(startFault(error))
  process.exit(1)
}
