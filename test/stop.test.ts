// A running service has several processes: launcher, supervisor, server and workers. These tests check how they end
// together, and which events must not end the service.
import { afterAll, describe, expect, test } from 'bun:test'
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { serverProgram } from '../tools/server-build.mjs'
import { forEachDatabaseUrl } from './helpers/databases.ts'
import { behaviour, closedPort, type FakeUpstream, startFakeUpstream, streamHeaders } from './helpers/fake-upstream.ts'
import { Installation } from './helpers/gateway-process.ts'
import { installFor, messages, model, newToken } from './money/installed.ts'
import { until } from './relay/setup.ts'

const secret = { SECRET_KEY: 'secret key of a service that ends' }
const folder = mkdtempSync(join(tmpdir(), 'tollgate-stop-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/**
 * Runs code in every Bun process of a service before anything else. `role` is the role with which the process was
 * started.
 */
function preloaded(name: string, code: string): Record<string, string> {
  const file = join(folder, `${name}.ts`)
  writeFileSync(file, `const role = process.env['TOLLGATE_WORKER'] ?? 'first'\n${code}\nexport {}`)
  return { BUN_OPTIONS: `--preload ${file}` }
}

const saysSignals = preloaded(
  'signals',
  `for (const name of ['SIGTERM', 'SIGINT']) process.on(name, () => console.log('process', role, 'hears', name))
process.on('exit', () => console.log('process', role, 'ends'))`,
)

const eventOf = (content: string) => `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content } }] })}\n\n`

/** Makes the upstream send streams whose second half waits until the returned function is called. */
function halfStream(upstream: FakeUpstream): () => void {
  const { promise: told, resolve: goOn } = Promise.withResolvers<void>()
  upstream.forModel(
    model,
    behaviour('in two halves', async (exchange) => {
      exchange.head(200, streamHeaders())
      await exchange.write(eventOf('before'))
      await told
      await exchange.write(`${eventOf(' and after')}data: [DONE]\n\n`)
      exchange.end()
    }),
  )
  return goOn
}

/** Removes variables that the tests set, so that the service starts as a person would start it. */
const unset = {
  BUN_CONFIG_MAX_HTTP_REQUESTS: undefined,
  BUN_FEATURE_FLAG_EXPERIMENTAL_HTTP2_CLIENT: undefined,
  DATABASE_URL: undefined,
  SQL_DSN: undefined,
}

/** A service in its own process group, as in a terminal or under a service manager. */
class Group implements AsyncDisposable {
  said = ''
  readonly port: number
  readonly ended: Promise<number | null>
  readonly #leader: ChildProcess

  constructor(command: readonly string[], port: number, env: Record<string, string>) {
    this.port = port
    const [program = '', ...args] = command
    this.#leader = spawn(program, args, {
      // With the name of an npm script in its environment, the launcher ends when the test process ends, for whatever
      // reason. The server ends when its 'ipc' channel closes.
      env: {
        ...process.env,
        ...unset,
        HOST: '127.0.0.1',
        PORT: String(port),
        LOG_LEVEL: 'info',
        npm_lifecycle_event: 'test',
        ...secret,
        ...env,
      },
      stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
      detached: true,
    })
    if (this.#leader.stdout) {
      createInterface({ input: this.#leader.stdout }).on('line', (line) => {
        this.said += `${line}\n`
      })
    }
    this.ended = new Promise((resolve) => this.#leader.once('exit', resolve))
  }

  /** How many times this text occurs in the service's output. */
  count(words: string): number {
    return this.said.split(words).length - 1
  }

  /**
   * True if each of these processes has received the signal this many times or has ended. A worker without an open call
   * ends immediately.
   */
  haveHeard(roles: readonly string[], signal: NodeJS.Signals, times: number): boolean {
    return roles.every(
      (role) => this.count(`process ${role} ends`) > 0 || this.count(`process ${role} hears ${signal}`) >= times,
    )
  }

  signalAll(signal: NodeJS.Signals): void {
    process.kill(-(this.#leader.pid ?? 0), signal)
  }

  signalLeader(signal: NodeJS.Signals): void {
    this.#leader.kill(signal)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const { exitCode, signalCode } = this.#leader
    if (exitCode === null && signalCode === null) this.signalAll('SIGKILL')
    await this.ended
  }
}

async function startGroup(command: readonly string[], env: Record<string, string>): Promise<Group> {
  const group = new Group(command, await closedPort(), env)
  await until(() => group.count('listens on') === Number(env['WORKERS']), 100_000)
  return group
}

/**
 * Opens a stream and reads its beginning. `text` resolves to everything that has arrived when the stream ends or breaks
 * off.
 */
async function openStream(group: Group, key: string): Promise<{ text: Promise<string> }> {
  const response = await fetch(`http://127.0.0.1:${group.port}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model, messages, stream: true }),
  })
  const reader = response.body?.getReader()
  let text = new TextDecoder().decode((await reader?.read())?.value)
  const readRest = async () => {
    for (let step = await reader?.read(); step && !step.done; step = await reader?.read())
      text += new TextDecoder().decode(step.value)
  }
  const given = () => text
  return { text: readRest().then(given, given) }
}

/** Whether the process exists. */
function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

const program = serverProgram()
const bare = [process.execPath, program]
const launched = ['node', resolve(import.meta.dir, '../tools/bun.mjs'), program]

forEachDatabaseUrl((name, freshUrl) => {
  const workers = name === 'sqlite' ? 1 : 2
  const workerRoles = workers === 1 ? ['0'] : ['0', '1']

  async function install(upstream: FakeUpstream) {
    const installation = new Installation(name === 'postgres' ? await freshUrl() : undefined, secret)
    const gateway = await installation.start()
    await installFor(gateway, upstream.url)
    const { key } = await newToken(gateway)
    await gateway.stop()
    const env: Record<string, string> = {
      ...saysSignals,
      DATA_DIR: installation.folder,
      WORKERS: String(workers),
      ...(name === 'postgres' && { DATABASE_URL: installation.databaseUrl }),
    }
    return { env, key, [Symbol.asyncDispose]: () => installation[Symbol.asyncDispose]() }
  }

  describe('open calls are allowed to finish', () => {
    test('when a service manager signals every process of the service, including launcher and server', async () => {
      await using upstream = await startFakeUpstream()
      const goOn = halfStream(upstream)
      await using installed = await install(upstream)
      await using group = await startGroup(launched, installed.env)
      const stream = await openStream(group, installed.key)
      // The launcher sets the variables that a server needs at its start. So with one worker, there is a single server
      // and no supervisor.
      const servers = workers === 1 ? ['first'] : workerRoles
      group.signalAll('SIGTERM')
      await until(() => group.haveHeard(servers, 'SIGTERM', 1))
      // The tool "timeout" sends its signal to the process that it started, and also to the group of this process.
      group.signalLeader('SIGTERM')
      await until(() => group.haveHeard(servers, 'SIGTERM', 2))
      goOn()
      expect(await stream.text).toEndWith('data: [DONE]\n\n')
      expect(await group.ended).toBe(0)
    }, 120_000)

    test('when Ctrl-C reaches the workers both from the terminal and from their supervisor', async () => {
      await using upstream = await startFakeUpstream()
      const goOn = halfStream(upstream)
      await using installed = await install(upstream)
      await using group = await startGroup(bare, installed.env)
      const stream = await openStream(group, installed.key)
      group.signalAll('SIGINT')
      await until(
        () => group.haveHeard(['first', ...workerRoles], 'SIGINT', 1) && group.haveHeard(workerRoles, 'SIGTERM', 1),
      )
      goOn()
      expect(await stream.text).toEndWith('data: [DONE]\n\n')
      expect(await group.ended).toBe(0)
    }, 120_000)

    test('unless Ctrl-C is pressed again two seconds later', async () => {
      await using upstream = await startFakeUpstream()
      halfStream(upstream)
      await using installed = await install(upstream)
      await using group = await startGroup(bare, installed.env)
      const stream = await openStream(group, installed.key)
      group.signalAll('SIGINT')
      await until(() => group.count('shutting down') === workers)
      await Bun.sleep(2100)
      group.signalAll('SIGINT')
      expect(await group.ended).toBe(1)
      expect(await stream.text).not.toContain('and after')
    }, 120_000)
  })

  if (name === 'sqlite') return

  async function startWorkers(code: string): Promise<Group> {
    const settings = { DATABASE_URL: await freshUrl(), WORKERS: '2' }
    return new Group(bare, await closedPort(), { ...settings, DATA_DIR: folder, ...preloaded('worker', code) })
  }
  const saysNumber = `if (role !== 'first') console.log('worker has number', process.pid)`
  const numbersIn = (said: string) => [...said.matchAll(/worker has number (\d+)/g)].map(([, pid]) => Number(pid))

  test('if the replacement of a worker fails, the other workers continue, and the worker is replaced as soon as possible', async () => {
    const fails = join(folder, 'fails')
    await using group = await startWorkers(`
      ${saysNumber}
      if (role !== 'first' && require('node:fs').existsSync('${fails}')) process.exit(1)`)
    await until(() => group.count('listens on') === 2, 100_000)
    writeFileSync(fails, '')
    const [killed = 0, other = 0] = numbersIn(group.said)
    process.kill(killed, 'SIGKILL')
    // The replacement was tried twice.
    await until(() => group.count('worker has number') === 4)
    expect(isAlive(other)).toBe(true)
    rmSync(fails)
    await until(() => group.count('listens on') === 3, 100_000)
    group.signalLeader('SIGTERM')
    expect(await group.ended).toBe(0)
  }, 120_000)

  test('a worker that fails before any worker has served a call stops the others, and the service ends with its exit code', async () => {
    const waits = join(folder, 'waits')
    await using group = await startWorkers(`
      const { existsSync, writeFileSync } = require('node:fs')
      if (role === '0') {
        process.on('SIGTERM', () => process.exit(0))
        writeFileSync('${waits}', '')
        await new Promise(() => setInterval(() => undefined, 1000))
      }
      while (role === '1' && !existsSync('${waits}')) await Bun.sleep(5)
      if (role === '1') process.exit(3)`)
    expect(await group.ended).toBe(3)
    expect(existsSync(waits)).toBe(true)
  }, 120_000)

  test('a service that receives SIGTERM while no worker is alive ends without starting one', async () => {
    await using group = await startWorkers(saysNumber)
    await until(() => group.count('listens on') === 2, 100_000)
    const numbers = numbersIn(group.said)
    for (const pid of numbers) process.kill(pid, 'SIGTERM')
    await until(() => !numbers.some(isAlive))
    group.signalLeader('SIGTERM')
    // Any exit code is possible, because on a slow machine the signal may arrive while new workers start.
    expect(await group.ended).toBeNumber()
  })
})
