import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createConnection } from 'mysql2/promise'
import { closedPort } from './fake-upstream.ts'

const isRoot = process.getuid?.() === 0

/** A program of MariaDB, or undefined if it is not installed. */
function programPath(name: string): string | undefined {
  return ['/usr/sbin', '/usr/bin', '/usr/local/bin', '/opt/homebrew/bin', '/opt/homebrew/opt/mariadb/bin']
    .map((folder) => join(folder, name))
    .find((path) => existsSync(path))
}

/** Installs MariaDB if this process runs as root on Debian. Elsewhere, it does nothing. */
function install(): void {
  if (programPath('mariadbd') || !isRoot || !existsSync('/usr/bin/apt-get')) return
  spawnSync('apt-get', ['install', '-y', '--no-install-recommends', 'mariadb-server'], {
    stdio: 'ignore',
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
  })
}

install()

/** The reason why MariaDB cannot be tested on this machine. Undefined if it can be tested. */
export const mariadbMissing: string | undefined =
  programPath('mariadbd') && programPath('mariadb-install-db')
    ? undefined
    : 'MariaDB is not installed, run: apt-get install -y mariadb-server'

/** A private server of this test file, in a temporary folder and on a free port. */
export interface Mariadb extends AsyncDisposable {
  /** Creates a database with the statements of a dump, and returns its address. */
  load(name: string, dump: string): Promise<string>
}

/** Starts a private MariaDB server. It ends when the test run ends, for whatever reason. */
export async function startMariadb(): Promise<Mariadb> {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-mariadb-'))
  const data = join(folder, 'data')
  const user = isRoot ? ['--user=root'] : []
  const made = spawnSync(
    programPath('mariadb-install-db') ?? '',
    ['--no-defaults', `--datadir=${data}`, '--auth-root-authentication-method=normal', '--skip-test-db', ...user],
    { encoding: 'utf8' },
  )
  if (made.status !== 0) throw new Error(`MariaDB cannot be set up: ${made.stderr}${made.stdout}`)
  const port = await closedPort()
  const flags = [
    '--no-defaults',
    `--datadir=${data}`,
    `--port=${port}`,
    '--bind-address=127.0.0.1',
    `--socket=${join(folder, 'socket')}`,
    `--pid-file=${join(folder, 'pid')}`,
    '--innodb-flush-log-at-trx-commit=0',
    '--skip-name-resolve',
    ...user,
  ]
  // The shell stops the server when its input ends. The input also ends if this process is killed.
  const script = '"$@" >/dev/null 2>&1 & pid=$!; cat >/dev/null; kill $pid; wait $pid'
  const keeper = spawn('/bin/sh', ['-c', script, 'mariadb', programPath('mariadbd') ?? '', ...flags], {
    stdio: ['pipe', 'ignore', 'inherit'],
  })
  const ended = new Promise((resolve) => keeper.once('exit', resolve))
  const connect = (database?: string) =>
    createConnection({ host: '127.0.0.1', port, user: 'root', multipleStatements: true, ...(database && { database }) })
  const deadline = Date.now() + 60_000
  for (;;) {
    const connection = await connect().catch(() => undefined)
    if (connection) {
      await connection.query("create user reader@'%' identified by 'p@ss w:rd'; grant select on *.* to reader@'%'")
      await connection.end()
      break
    }
    if (Date.now() > deadline) throw new Error('MariaDB does not start')
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  return {
    async load(name, dump) {
      const server = await connect()
      await server.query(`create database ${name} character set utf8mb4`)
      await server.end()
      const connection = await connect(name)
      await connection.query(dump.replace(/^\/\*M!999999.*\n/, ''))
      await connection.end()
      return `mysql://reader:${encodeURIComponent('p@ss w:rd')}@127.0.0.1:${port}/${name}`
    },
    async [Symbol.asyncDispose]() {
      keeper.stdin.end()
      await ended
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
