import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { closedPort } from './fake-upstream.ts'

const program = ['/usr/sbin/clickhouse-server', '/usr/bin/clickhouse-server'].find((path) => existsSync(path))

/** The reason why ClickHouse cannot be tested on this machine. Undefined if it can be tested. */
export const clickhouseMissing: string | undefined =
  program === undefined ? 'ClickHouse is not installed, run: apt-get install -y clickhouse-server' : undefined

/** A private server of this test file, in a temporary folder and on a free port. */
export interface ClickHouse extends AsyncDisposable {
  /** Its address with user and password, for LOG_SINK_URL. */
  url: string
  /** Runs a query and returns the answer as text. */
  ask(query: string): Promise<string>
}

const password = 'pass word/1'

/** Starts a private ClickHouse server. */
export async function startClickHouse(): Promise<ClickHouse> {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-clickhouse-'))
  const port = await closedPort()
  writeFileSync(
    join(folder, 'config.xml'),
    `<yandex><logger><level>warning</level><console>1</console></logger><http_port>${port}</http_port>
      <listen_host>127.0.0.1</listen_host><path>${folder}/data/</path><tmp_path>${folder}/tmp/</tmp_path>
      <mark_cache_size>16777216</mark_cache_size><users_config>users.xml</users_config>
      <default_profile>default</default_profile><default_database>default</default_database></yandex>`,
  )
  writeFileSync(
    join(folder, 'users.xml'),
    `<yandex><profiles><default></default></profiles><quotas><default></default></quotas><users><default>
      <password>${password}</password><networks><ip>127.0.0.1</ip></networks><profile>default</profile>
      <quota>default</quota></default></users></yandex>`,
  )
  const server: ChildProcess = spawn(program ?? '', [`--config-file=${join(folder, 'config.xml')}`], {
    cwd: folder,
    stdio: 'ignore',
  })
  const ask = async (query: string) => {
    const headers = { 'x-clickhouse-user': 'default', 'x-clickhouse-key': password }
    const response = await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', headers, body: query })
    if (!response.ok) throw new Error(await response.text())
    return (await response.text()).trim()
  }
  for (;;) {
    if (server.exitCode !== null) throw new Error(`ClickHouse did not start, it ended with ${server.exitCode}`)
    if ((await ask('select 1').catch(() => '')) === '1') break
    await setTimeout(20)
  }
  return {
    url: `http://default:${encodeURIComponent(password)}@127.0.0.1:${port}/default`,
    ask,
    async [Symbol.asyncDispose]() {
      const ended = new Promise((resolve) => server.once('exit', resolve))
      server.kill('SIGKILL')
      await ended
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
