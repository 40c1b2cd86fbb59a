import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, openSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { type Config, loadConfig } from '../../server/config.ts'
import { isPostgresUrl } from '../../server/lib/network/database-url.ts'
import { createLogger, type Logger } from '../../server/log.ts'
import { serverEngine } from '../../tools/bun.mjs'
import { serverProgram } from '../../tools/server-build.mjs'
import { type Outcome, runHere } from './command-line.ts'
import { closedPort } from './fake-upstream.ts'
import { copySqliteTemplate } from './templates.ts'

/** The output file of a process, and the changes to its environment variables. */
interface Output {
  stdout: number
  env: Record<string, string>
}

const accessToken = 'gatewayprocessaccesstoken'

/**
 * One build for all test files of a process. It is stored globally, because each file has its own instances of the
 * modules.
 */
const shared = globalThis as typeof globalThis & { tollgateServerProgram?: string }

/**
 * The program that the processes run. The check whether it is up to date reads all source files, so it runs only once
 * in a test run.
 */
function builtProgram(): string {
  shared.tollgateServerProgram ??= serverProgram()
  return shared.tollgateServerProgram
}

/**
 * Commands that replace the file of a database. They run in their own process: within one process, SQLite shares its
 * state between all connections to a file, and keeps it for a short time after they are closed. So the test process
 * must not replace the file itself.
 */
const replacing: ReadonlySet<string> = new Set(['restore', 'migrate-to'])

/** A module that is loaded into the server process and makes its password hashes cheap. */
const quickPasswords = join(import.meta.dir, 'quick-passwords.ts')

/**
 * The parts of the server's module that are used here. If the module's own type were used, type checking the browser
 * tests would include the whole server.
 */
interface Contexts {
  createContext(config: Config, log: Logger): Promise<{ close(): Promise<void> }>
}

/** One installation: a data folder, a database and an environment that several processes can share. */
export class Installation implements AsyncDisposable {
  readonly folder: string
  /** The database URL for `openStore`. */
  readonly databaseUrl: string
  readonly #env: Record<string, string | undefined>
  readonly #program: readonly string[] | undefined
  readonly #running = new Set<GatewayProcess>()

  /**
   * Uses SQLite in a temporary folder, or the given PostgreSQL database. A variable in `env` whose value is undefined
   * is removed from the environment. `program` is the command that starts Tollgate. Without it, the build of the
   * repository is started.
   */
  constructor(postgresUrl?: string, env: Record<string, string | undefined> = {}, program?: readonly string[]) {
    this.#program = program
    this.folder = mkdtempSync(join(tmpdir(), 'tollgate-'))
    this.databaseUrl = postgresUrl ?? join(this.folder, 'tollgate.db')
    const { DATABASE_URL: _url, SQL_DSN: _dsn, ...inherited } = process.env
    this.#env = {
      ...serverEngine,
      ...inherited,
      // Bun reads the first two variables when its process starts. If they are missing, Tollgate starts a second
      // process that has them.
      BUN_CONFIG_MAX_HTTP_REQUESTS: '65535',
      BUN_FEATURE_FLAG_EXPERIMENTAL_HTTP2_CLIENT: '1',
      PORT: '0',
      HOST: '127.0.0.1',
      WORKERS: '1',
      LOG_LEVEL: 'info',
      DATA_DIR: this.folder,
      SECRET_KEY: 'test secret key of the installation',
      INITIAL_ROOT_PASSWORD: 'root password',
      INITIAL_ROOT_ACCESS_TOKEN: accessToken,
      ...(postgresUrl !== undefined && { DATABASE_URL: postgresUrl }),
      ...env,
    }
  }

  /**
   * Does what the first start of an installation does to its data (schema, first account, secret key), or what a later
   * start does, but starts no server.
   */
  async create(): Promise<void> {
    if (!existsSync(this.databaseUrl) && !isPostgresUrl(this.databaseUrl)) await copySqliteTemplate(this.databaseUrl)
    const { createContext }: Contexts = await import(new URL('../../server/context.ts', import.meta.url).href)
    const log = createLogger('silent', { write: () => undefined })
    await (await createContext(loadConfig(this.#env), log)).close()
  }

  /** Starts a gateway and waits until it listens. */
  async start(): Promise<GatewayProcess> {
    const child = this.#spawn([])
    let said = ''
    const url = await new Promise<string>((resolve, reject) => {
      for (const stream of [child.stdout, child.stderr]) {
        if (!stream) continue
        createInterface({ input: stream }).on('line', (line) => {
          said = `${said}${line}\n`.slice(-4000)
          const found = /Tollgate listens on (http:\S+:\d+)/.exec(line)
          if (found?.[1]) resolve(found[1])
        })
      }
      // The output may arrive after the process has ended.
      child.once('close', (code, signal) => reject(new Error(`the gateway ended (${code ?? signal}): ${said}`)))
    })
    const gateway = new GatewayProcess(child, url.replace('localhost', '127.0.0.1'), () => said)
    this.#running.add(gateway)
    child.once('exit', () => this.#running.delete(gateway))
    return gateway
  }

  /** Starts a gateway that writes its output to a file, and waits until its port accepts connections. */
  async startInto(file: string): Promise<GatewayProcess> {
    const port = await closedPort()
    const child = this.#spawn([], { stdout: openSync(file, 'w'), env: { PORT: String(port) } })
    const gateway = new GatewayProcess(child, `http://127.0.0.1:${port}`, () => '')
    this.#running.add(gateway)
    child.once('exit', () => this.#running.delete(gateway))
    while (!(await fetch(`${gateway.url}/readyz`).catch(() => undefined))?.ok) {
      if (child.exitCode !== null) throw new Error(`the gateway ended (${child.exitCode})`)
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
    return gateway
  }

  /** Runs a subcommand, such as `audit`. It runs in this process unless the installation has a program of its own. */
  run(...args: string[]): Promise<Outcome> {
    const isHere = this.#program === undefined && !replacing.has(args[0] ?? '')
    return isHere ? runHere(args, this.#env) : this.runProcess(...args)
  }

  /** Runs a subcommand in its own process. Without arguments, runs a server that is expected to end. */
  runProcess(...args: string[]): Promise<Outcome> {
    return outcomeOf(this.#spawn(args))
  }

  /** Starts a subcommand that runs until it is stopped. */
  begin(...args: string[]) {
    const child = this.#spawn(args)
    let output = ''
    const waiting = new Set<() => void>()
    for (const stream of [child.stdout, child.stderr])
      stream?.on('data', (chunk: Buffer) => {
        output += chunk.toString()
        for (const look of waiting) look()
      })
    const ended = new Promise<number | null>((resolve) => child.once('exit', (code) => resolve(code)))
    return {
      /** Resolves when the output matches. Rejects if the command ends first. */
      async said(words: RegExp): Promise<void> {
        const found = new Promise<void>((resolve) => {
          const look = () => words.test(output) && resolve()
          waiting.add(look)
          look()
        })
        const tooEarly = ended.then(() => {
          if (!words.test(output)) throw new Error(`it ended without ${words}: ${output}`)
        })
        await Promise.race([found, tooEarly])
      },
      /** Sends a signal, and returns the exit code. */
      stop(signal: 'SIGINT' | 'SIGTERM'): Promise<number | null> {
        child.kill(signal)
        return ended
      },
    }
  }

  /** Runs a subcommand under a limit of the shell, such as `ulimit -f 8`. */
  runUnder(limit: string, ...args: string[]): Promise<Outcome> {
    const program = [process.execPath, '--preload', quickPasswords, builtProgram(), ...args]
    return outcomeOf(
      spawn('bash', ['-c', `${limit}; exec "$@"`, 'bash', ...program], {
        cwd: this.folder,
        env: this.#env,
        stdio: ['ignore', 'pipe', 'pipe'],
      }),
    )
  }

  /** Runs a subcommand and kills it (kill -9) after this time, unless it has ended. Returns whether it was killed. */
  async runUntilKilled(afterMs: number, ...args: string[]): Promise<boolean> {
    const child = this.#spawn(args)
    const timer = setTimeout(() => child.kill('SIGKILL'), afterMs)
    const { code } = await outcomeOf(child)
    clearTimeout(timer)
    return code === null
  }

  /**
   * Runs a subcommand once for each point and kills it (kill -9). Point 1 is the first line of the output, and each
   * further point is 15 ms later. Returns how many runs were killed before they ended.
   */
  async killedRuns(args: readonly string[], points: readonly number[]): Promise<number> {
    let killed = 0
    for (const point of points) {
      const child = this.#spawn(args)
      const kill = () => setTimeout(() => child.kill('SIGKILL'), (point - 1) * 15)
      for (const stream of [child.stdout, child.stderr])
        if (stream) createInterface({ input: stream }).once('line', kill)
      const signal = await new Promise<string | null>((resolve) => child.once('exit', (_, name) => resolve(name)))
      if (signal === 'SIGKILL') killed++
    }
    return killed
  }

  /** Runs a program of the repository with the environment of the installation, such as `tools/seed/main.ts`. */
  runProgram(path: string, args: readonly string[] = []): Promise<Outcome> {
    return outcomeOf(
      spawn(process.execPath, [path, ...args], { cwd: this.folder, env: this.#env, stdio: ['ignore', 'pipe', 'pipe'] }),
    )
  }

  #spawn(args: readonly string[], { stdout, env }: Partial<Output> = {}): ChildProcess {
    const [file = '', ...first] = this.#program ?? [process.execPath, '--preload', quickPasswords, builtProgram()]
    return spawn(file, [...first, ...args], {
      cwd: this.folder,
      env: { ...this.#env, ...env },
      // The 'ipc' channel closes when the test run ends, for whatever reason, so that no server outlives the run.
      stdio: ['ignore', stdout ?? 'pipe', 'pipe', 'ipc'],
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const gateway of this.#running) await gateway.kill()
    rmSync(this.folder, { recursive: true, force: true })
  }
}

async function outcomeOf(child: ChildProcess): Promise<Outcome> {
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk: Buffer) => (output += chunk.toString()))
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve))
  return { code, output }
}

/** A gateway in a separate process. */
export class GatewayProcess {
  readonly url: string
  /** The last lines of the process's output. */
  readonly said: () => string
  readonly #child: ChildProcess
  readonly #exited: Promise<number | null>

  constructor(child: ChildProcess, url: string, said: () => string) {
    this.#child = child
    this.url = url
    this.said = said
    this.#exited = new Promise((resolve) => child.once('exit', resolve))
  }

  get pid(): number {
    return this.#child.pid ?? 0
  }

  /** Sends SIGKILL (kill -9), and resolves when the process is gone. */
  async kill(): Promise<void> {
    this.#child.kill('SIGKILL')
    await this.#exited
  }

  /** Sends SIGTERM, and resolves with the exit code. */
  async stop(): Promise<number | null> {
    this.#child.kill('SIGTERM')
    return this.#exited
  }

  /** Simulates the end of the process that started the gateway. Resolves with the gateway's exit code. */
  async orphan(): Promise<number | null> {
    this.#child.disconnect()
    return this.#exited
  }

  /** Calls the management API as root. Throws unless the call succeeds. */
  async api<T = unknown>(method: string, path: string, body?: unknown): Promise<T> {
    const response = await fetch(this.url + path, {
      method,
      headers: { authorization: accessToken },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const answer = (await response.json()) as { success: boolean; message: string; data: T }
    if (!answer.success) throw new Error(`${method} ${path}: ${answer.message}`)
    return answer.data
  }

  post(path: string, body: unknown, key: string, init: RequestInit = {}): Promise<Response> {
    return fetch(this.url + path, {
      method: 'POST',
      body: JSON.stringify(body),
      ...init,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    })
  }
}
