import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, openSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync, writeSync } from 'node:fs'
import { createServer } from 'node:net'
import { networkInterfaces } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { sql } from 'kysely'
import { openStore } from '../server/store/connection/open.ts'
import { serverProgram } from '../tools/server-build.mjs'
import { forEachEmptyDatabaseUrl } from './helpers/databases.ts'
import { ok, startFakeUpstream } from './helpers/fake-upstream.ts'
import { Installation } from './helpers/gateway-process.ts'
import { installFor, messages, model, newToken, promptTokens } from './money/installed.ts'
import { until } from './relay/setup.ts'

/** Occupies a port of this machine, as another program would. */
async function occupyPort(): Promise<AsyncDisposable & { port: number }> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  return {
    port,
    [Symbol.asyncDispose]: () => new Promise<void>((resolve) => server.close(() => resolve())),
  }
}

const linesOf = (output: string) => output.split('\n').filter((line) => line !== '')

test('a second server on the same SQLite folder is refused with a message, and commands work while the first server runs', async () => {
  await using installation = new Installation()
  const first = await installation.start()
  await using second = new Installation(undefined, { DATA_DIR: installation.folder })
  const refused = await second.runProcess()
  expect(refused.code).toBe(1)
  expect(linesOf(refused.output)).toEqual([
    `Tollgate cannot start: another server is running on the database in ${installation.folder}, and SQLite serves one: stop the other one, or set DATA_DIR to a folder of its own (or DATABASE_URL to a PostgreSQL database).`,
  ])
  expect(await installation.runProcess('audit')).toMatchObject({ code: 0 })
  expect(await installation.runProcess('reset-password')).toMatchObject({ code: 0 })
  await first.api('GET', '/api/user/self').catch((error: Error) => expect(error.message).toContain('access token'))

  await first.kill()
  const next = await second.start()
  expect(await next.stop()).toBe(0)
  const last = await installation.start()
  expect(await last.stop()).toBe(0)
}, 120_000)

test('a gateway in its own process counts tokens if the upstream does not report them', async () => {
  await using upstream = await startFakeUpstream()
  upstream.always(ok({ text: 'a a a a', usage: null }))
  await using installation = new Installation()
  const gateway = await installation.start()
  await installFor(gateway, upstream.url)
  const { key } = await newToken(gateway)
  const body = JSON.stringify({ model, messages })
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const response = await fetch(`${gateway.url}/v1/chat/completions`, { method: 'POST', headers, body })
  expect(response.status).toBe(200)
  await response.arrayBuffer()
  const [row] = await gateway.api<object[]>('GET', '/api/log/?type=2')
  expect(row).toMatchObject({ prompt_tokens: promptTokens, completion_tokens: 4 })
}, 120_000)

forEachEmptyDatabaseUrl((name, freshUrl) => {
  test('if the secret key is missing but the database exists, the start fails with a message, and no new key is created', async () => {
    await using installation = new Installation(name === 'postgres' ? await freshUrl() : undefined, { SECRET_KEY: '' })
    const file = join(installation.folder, 'secret.key')
    const gateway = await installation.start()
    expect(await gateway.stop()).toBe(0)
    const key = readFileSync(file, 'utf8')
    rmSync(file)
    const before = readdirSync(installation.folder).sort()
    const { code, output } = await installation.runProcess()
    expect([code, linesOf(output).at(-1)]).toEqual([
      name === 'sqlite' ? 78 : 1,
      expect.stringContaining(`The secret key is missing: there is neither SECRET_KEY nor ${file}`),
    ])
    expect(readdirSync(installation.folder).sort()).toEqual(before)
    writeFileSync(file, key)
    const again = await installation.start()
    expect(await again.stop()).toBe(0)
  }, 120_000)

  test(name === 'sqlite' ? 'several workers need PostgreSQL' : 'several workers share the port', async () => {
    const { port } = await occupyPort().then(async (other) => {
      await other[Symbol.asyncDispose]()
      return other
    })
    const url = name === 'postgres' ? await freshUrl() : undefined
    await using installation = new Installation(url, { WORKERS: '2', PORT: String(port) })
    if (name === 'sqlite') {
      expect(await installation.runProcess()).toEqual({
        code: 78,
        output: 'Configuration: WORKERS above 1 needs PostgreSQL: SQLite serves one process.\n',
      })
      return
    }
    const gateway = await installation.start()
    await until(() => gateway.said().split('listens on').length === 3, 100_000)
    expect((await fetch(`${gateway.url}/healthz`)).status).toBe(200)
    expect(await gateway.stop()).toBe(0)
    const next = await installation.start()
    await until(() => next.said().split('listens on').length === 3, 100_000)
    expect(await next.orphan()).toBe(1)
    const isServed = async () => (await fetch(`${next.url}/healthz`).catch(() => undefined)) !== undefined
    await until(async () => !(await isServed()), 100_000)
  }, 120_000)

  test('if the port is in use, the start fails with one message, and no files are created', async () => {
    await using other = await occupyPort()
    const url = name === 'postgres' ? await freshUrl() : undefined
    await using installation = new Installation(url, {
      PORT: String(other.port),
      INITIAL_ROOT_PASSWORD: '',
      WORKERS: name === 'postgres' ? '2' : '1',
    })
    const { code, output } = await installation.runProcess()
    expect(code).toBe(1)
    expect(linesOf(output)).toEqual([
      `Tollgate cannot start: port ${other.port} is in use by another program; set PORT to a free one.`,
    ])
    if (name === 'sqlite') expect(existsSync(installation.databaseUrl)).toBe(false)
    else expect(await tablesOf(installation.databaseUrl)).toBe(0)
  }, 120_000)
})

test('the initial password is used unchanged, up to the maximum length with which a user can log in', async () => {
  for (const password of [' blanks around it ', 'p'.repeat(128)]) {
    await using installation = new Installation(undefined, { INITIAL_ROOT_PASSWORD: password })
    const gateway = await installation.start()
    const response = await fetch(`${gateway.url}/api/user/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ username: 'root', password }),
    })
    expect(await response.json()).toMatchObject({ success: true })
    expect(await gateway.stop()).toBe(0)
  }
}, 120_000)

test('a SQLite database is checked while the gateway starts, and the result is reported', async () => {
  await using installation = new Installation()
  const gateway = await installation.start()
  const metrics = () => fetch(`${gateway.url}/metrics`).then((response) => response.text())
  let told = await metrics()
  while (!told.includes('tollgate_database_sound')) {
    await new Promise((resolve) => setTimeout(resolve, 50))
    told = await metrics()
  }
  expect(told).toContain('\ntollgate_database_sound 1\n')
  expect(await gateway.stop()).toBe(0)
  expect((await installation.runProcess('quick-check')).code).toBe(0)
  const other = new Database(installation.databaseUrl)
  other.run('PRAGMA locking_mode = EXCLUSIVE')
  other.run('BEGIN EXCLUSIVE')
  const locked = await installation.runProcess('quick-check')
  other.close()
  // The exit code 3 is for damaged databases only. A locked database is not damaged.
  expect(locked).toMatchObject({ code: 1, output: expect.stringContaining('database is locked') })
  const size = statSync(installation.databaseUrl).size
  writeSync(openSync(installation.databaseUrl, 'r+'), Buffer.alloc(size - 8192, 0xff), 0, size - 8192, 8192)
  expect((await installation.runProcess('quick-check')).code).toBe(3)
}, 120_000)

test.skipIf(process.platform !== 'linux')(
  'a server that is started without the launcher is one process, which takes less than 100 MB at the start (Linux only)',
  async () => {
    await using installation = new Installation()
    const { BUN_CONFIG_MAX_HTTP_REQUESTS: _requests, ...env } = process.env
    const own = { PORT: '0', DATA_DIR: installation.folder, INITIAL_ROOT_PASSWORD: 'root password' }
    // The server is started without an IPC channel to its parent process, as a shell or a container starts it.
    const child = spawn(process.execPath, [serverProgram()], {
      env: { ...env, ...own },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const ended = once(child, 'exit')
    try {
      for await (const line of createInterface({ input: child.stdout })) if (line.includes('Tollgate listens')) break
      const about = (file: string) => readFileSync(`/proc/${child.pid}/${file}`, 'utf8')
      expect(about('environ')).toContain('BUN_CONFIG_MAX_HTTP_REQUESTS=65535')
      const residentKilobytes = () => Number(/^VmRSS:\s+(\d+)/m.exec(about('status'))?.[1])
      // Hashing the first password needs much memory. The process must return it to the operating system soon
      // afterwards.
      await until(() => residentKilobytes() < 100 * 1024)
    } finally {
      child.kill('SIGTERM')
    }
    expect(await ended).toEqual([0, null])
  },
)

test('a missing data folder is created, even if the secret key is not stored in it', async () => {
  await using outer = new Installation()
  await using installation = new Installation(undefined, { DATA_DIR: join(outer.folder, 'new', 'data') })
  const gateway = await installation.start()
  expect(await gateway.stop()).toBe(0)
  expect(existsSync(join(outer.folder, 'new', 'data', 'tollgate.db'))).toBe(true)
}, 120_000)

const hasIpv6 = Object.values(networkInterfaces()).some((all) => all?.some(({ address }) => address === '::1'))

test.skipIf(!hasIpv6)('an IPv6 address is shown as in a URL (needs a machine that has ::1)', async () => {
  await using installation = new Installation(undefined, { HOST: '::1' })
  const gateway = await installation.start()
  expect(gateway.url).toMatch(/^http:\/\/\[::1\]:\d+$/)
  expect((await fetch(`${gateway.url}/healthz`)).status).toBe(200)
  expect(await gateway.stop()).toBe(0)
})

test('an unusable setting is reported in a message that names it', async () => {
  await using outer = new Installation()
  const file = join(outer.folder, 'file')
  writeFileSync(file, 'neither a folder nor a database, and long enough to be looked at as one: '.repeat(60))
  const said = async (env: Record<string, string>) => {
    await using installation = new Installation(undefined, env)
    const { code, output } = await installation.runProcess()
    return [code, ...linesOf(output)]
  }
  for (const SECRET_KEY of ['', 'a key of the environment']) {
    expect(await said({ DATA_DIR: file, SECRET_KEY })).toEqual([
      78,
      expect.stringContaining(`Configuration: DATA_DIR is "${file}", a folder that cannot be made or written to: `),
    ])
  }
  expect(await said({ HOST: 'no-such-host.invalid' })).toEqual([
    1,
    'Tollgate cannot start: HOST is "no-such-host.invalid", which is not an address of this machine.',
  ])
  writeFileSync(outer.databaseUrl, 'not a database at all, as a broken copy is: '.repeat(100))
  expect(await said({ DATA_DIR: outer.folder })).toEqual([
    1,
    `Tollgate cannot start: the SQLite database ${outer.databaseUrl} cannot be opened (file is not a database).`,
  ])
  const mysql = 'root:password@tcp(localhost:3306)/oneapi'
  expect(await said({ SQL_DSN: mysql })).toEqual([
    78,
    'Configuration: SQL_DSN must begin with postgres:// (leave it out for SQLite in DATA_DIR; MySQL is not supported).',
  ])
  const [code, sentence] = await said({ DATABASE_URL: 'postgres://me:pass#word@localhost/db' })
  expect([code, sentence]).toEqual([78, expect.stringContaining('DATABASE_URL is not a whole address')])
  expect(sentence).not.toContain('pass#word')
  expect(await said({ BASE_PATH: '/a/../b' })).toEqual([
    78,
    'Configuration: BASE_PATH is "/a/../b", but must be a path such as /gateway.',
  ])
  // Some programs read these as 172.0.0.16/12 and 8.0.0.0/8.
  expect(await said({ TRUSTED_PROXIES: '127.0.0.1, 172.16/12,010.0.0.0/8' })).toEqual([
    78,
    'Configuration: TRUSTED_PROXIES has "172.16/12", which is neither a whole address nor a CIDR of one.',
    'Configuration: TRUSTED_PROXIES has "010.0.0.0/8", which is neither a whole address nor a CIDR of one.',
  ])
  expect(await said({ INITIAL_ROOT_PASSWORD: 'p'.repeat(129) })).toEqual([
    78,
    'Configuration: INITIAL_ROOT_PASSWORD must have 8 to 128 characters.',
  ])
}, 120_000)

async function tablesOf(url: string): Promise<number> {
  const store = openStore({ url })
  const found = await sql<{ n: number }>`select count(*) as n from pg_tables where schemaname = 'public'`.execute(
    store.read,
  )
  await store.close()
  return Number(found.rows[0]?.n)
}

forEachEmptyDatabaseUrl((name, freshUrl) => {
  test('commands create nothing if there is no installation', async () => {
    await using installation = new Installation(name === 'postgres' ? await freshUrl() : undefined, { SECRET_KEY: '' })
    const gone = join(installation.folder, 'nowhere', 'else')
    await using mistaken = new Installation(name === 'postgres' ? installation.databaseUrl : undefined, {
      SECRET_KEY: '',
      DATA_DIR: gone,
    })
    for (const command of [['audit'], ['reset-password'], ['reset-password', 'somebody']]) {
      for (const each of [mistaken, installation]) {
        const { code, output } = await each.runProcess(...command)
        expect(code).toBe(1)
        expect(linesOf(output)).toEqual([
          expect.stringMatching(
            name === 'sqlite'
              ? /^There is no installation: .*tollgate\.db does not exist\./
              : /contains no installation/,
          ),
        ])
      }
    }
    expect(readdirSync(installation.folder)).toEqual([])
    if (name === 'postgres') expect(await tablesOf(installation.databaseUrl)).toBe(0)
    rmSync(gone, { recursive: true, force: true })
    expect(await installation.runProcess('no-such-command')).toMatchObject({
      code: 2,
      output: expect.stringContaining("error: unknown command 'no-such-command'"),
    })
  }, 120_000)
})
