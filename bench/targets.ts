import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { serverProgram } from '../tools/server-build.mjs'
import { BENCH_SECRET_KEY, type BenchDatabase, databaseVersion, newBenchDatabase } from './database.ts'
import { answers, freePort, ROOT, type Running, start } from './processes.ts'

/** Where the measured program sends its calls. */
export interface Upstream {
  readonly port: number
  readonly tlsPort: number
  readonly certificateFile: string
}

/** The mock upstream. */
export interface Mock extends Upstream {
  readonly running: Running
}

/**
 * The programs that can be measured. `gateway-2` and `gateway-4` are the gateway with two and with four processes.
 * `before` is the gateway of another checkout. `leases` is the gateway with the option `QuotaLeaseShare`. `peer` is
 * another product's gateway.
 */
export type TargetName = 'direct' | 'bare' | 'gateway' | 'gateway-2' | 'gateway-4' | 'leases' | 'before' | 'peer'

/** A program that the load tool can send its requests to. */
export interface Target {
  readonly name: TargetName
  /** The measured process; undefined for `direct`. */
  readonly running: Running | undefined
  readonly port: number
  readonly path: string
  /** Headers for the plain upstream, for the TLS upstream, and for an upstream with another API format. */
  headers(tls: boolean, translated: boolean): Readonly<Record<string, string>>
  /** The model name that sends the call to the TLS upstream instead of the plain one. */
  model(model: string, tls: boolean): string
  readonly version: string
  /** Keys of a hundred users, for the cases that use them. */
  readonly keys?: readonly string[]
  /** The PostgreSQL database of the program; undefined if it has none. */
  readonly database?: BenchDatabase
}

const PEER_FOLDER = join(ROOT, 'bench/peer')
const PEER_PINNED = join(ROOT, 'bench/peer-pinned')
const BUN = join(ROOT, 'node_modules/.bin/bun')
const ROOT_TOKEN = 'benchbenchbenchbenchbenchbenchbenchbenchbench123'
const ACCESS_TOKEN = 'bench0access0token0bench0access0'
const MODELS = 'gpt-4o-mini,gpt-4o,gpt-4,gpt-4-turbo,gpt-3.5-turbo'
/** Served by a channel whose upstream has Anthropic's API. */
export const MESSAGES_MODEL = 'claude-sonnet-4-5'
/** Served over TLS by a separate channel. */
const TLS_MODEL = 'gpt-4.1-mini'

/** Starts the mock upstream. */
export async function startMock(folder: string, slowChunks: number): Promise<Mock> {
  const certificateFile = join(folder, 'mock-certificate.pem')
  const running = start('mock', BUN, ['bench/mock/main.ts', certificateFile, String(slowChunks)])
  const line = await running.line((text) => text.startsWith('{'), 10_000)
  const ports = JSON.parse(line) as { port: number; tlsPort: number }
  return { running, certificateFile, ...ports }
}

/** The mock called directly, which shows the lower bound for latency and the overhead of the tools. */
export function direct(mock: Mock): Target {
  const version = ''
  return {
    name: 'direct',
    running: undefined,
    port: mock.port,
    path: '/v1/chat/completions',
    headers: () => ({}),
    model: (model) => model,
    version,
  }
}

/** Starts a program on the gateway's runtime that only forwards calls. */
export async function startBare(mock: Upstream): Promise<Target> {
  const running = start('bare', BUN, ['bench/bare/main.ts', `http://127.0.0.1:${mock.port}`])
  const { port } = JSON.parse(await running.line((text) => text.startsWith('{'), 10_000)) as { port: number }
  return {
    name: 'bare',
    running,
    port,
    path: '/v1/chat/completions',
    headers: () => ({}),
    model: (model) => model,
    version: 'of bench/bare',
  }
}

/** How a gateway is started. */
export interface GatewayPlan {
  readonly name: TargetName
  /** The folder for the files of this gateway. */
  readonly folder: string
  /** If set, the gateway gets a PostgreSQL database with this many log rows. */
  readonly calls?: number | undefined
  /** The number of its processes. */
  readonly processes?: number
  /** The value of the option `QuotaLeaseShare`, in percent. */
  readonly leases?: number | undefined
  /** Another checkout whose program is started. */
  readonly checkout?: string | undefined
}

/** Starts the gateway with a new database and adds a channel for each API format and port of the mock. */
export async function startGateway(mock: Upstream, plan: GatewayPlan): Promise<Target> {
  const { name, folder, calls, processes = 1, leases = 0, checkout = ROOT } = plan
  const port = await freePort()
  const database = calls === undefined ? undefined : await newBenchDatabase()
  const env = {
    PORT: String(port),
    HOST: '127.0.0.1',
    DATA_DIR: join(folder, 'data'),
    INITIAL_ROOT_PASSWORD: 'bench-root-password',
    INITIAL_ROOT_TOKEN: ROOT_TOKEN,
    INITIAL_ROOT_ACCESS_TOKEN: ACCESS_TOKEN,
    NODE_EXTRA_CA_CERTS: mock.certificateFile,
    ...(database && { DATABASE_URL: database.url, SECRET_KEY: BENCH_SECRET_KEY, WORKERS: String(processes) }),
  }
  const running = start(name, BUN, [serverProgram(checkout)], env)
  const url = `http://127.0.0.1:${port}`
  await answers(`${url}/readyz`, running)
  const keys = await database?.fill(calls ?? 0)
  await addChannel(url, { name: 'plain', base_url: `http://127.0.0.1:${mock.port}`, models: MODELS })
  await addChannel(url, {
    name: 'messages',
    type: 14,
    base_url: `http://127.0.0.1:${mock.port}`,
    models: MESSAGES_MODEL,
  })
  await addChannel(url, { name: 'tls', base_url: `https://127.0.0.1:${mock.tlsPort}`, models: TLS_MODEL })
  if (leases > 0) await setOption(url, 'QuotaLeaseShare', String(leases))
  const onPostgres = database ? `, ${processes} processes, PostgreSQL ${await databaseVersion(database.url)}` : ''
  return {
    name,
    running,
    port,
    path: '/v1/chat/completions',
    headers: () => ({ authorization: `Bearer sk-${ROOT_TOKEN}` }),
    model: (model, tls) => (tls ? TLS_MODEL : model),
    version: `${packageVersion(checkout)}${onPostgres}`,
    ...(database && keys && { database, keys }),
  }
}

/** Starts the peer, and installs it first if the pinned versions are missing. */
export async function startPeer(mock: Mock): Promise<Target> {
  const module = join(PEER_FOLDER, 'node_modules/@portkey-ai/gateway')
  installPeer(module)
  const port = await freePort()
  const args = [
    '--require',
    join(PEER_PINNED, 'listen-on-loopback.cjs'),
    join(module, 'build/start-server.js'),
    '--headless',
    `--port=${port}`,
  ]
  const running = start('peer', 'node', args, { NODE_EXTRA_CA_CERTS: mock.certificateFile, NODE_ENV: 'production' })
  await answers(`http://127.0.0.1:${port}/`, running)
  const host = (tls: boolean) => (tls ? `https://127.0.0.1:${mock.tlsPort}/v1` : `http://127.0.0.1:${mock.port}/v1`)
  return {
    name: 'peer',
    running,
    port,
    path: '/v1/chat/completions',
    headers: (tls, translated) => ({
      authorization: 'Bearer key',
      'x-portkey-provider': translated ? 'anthropic' : 'openai',
      'x-portkey-custom-host': host(tls),
    }),
    model: (model) => model,
    version: `@portkey-ai/gateway ${packageVersion(module)} on Node ${nodeVersion()}`,
  }
}

/** Creates a separate folder for the peer, outside version control, from the pinned package.json. */
function installPeer(module: string): void {
  const wanted = readFileSync(join(PEER_PINNED, 'package.json'), 'utf8')
  const manifest = join(PEER_FOLDER, 'package.json')
  if (existsSync(module) && existsSync(manifest) && readFileSync(manifest, 'utf8') === wanted) return
  rmSync(PEER_FOLDER, { recursive: true, force: true })
  mkdirSync(PEER_FOLDER)
  writeFileSync(manifest, wanted)
  const args = ['install', '--no-audit', '--no-fund', '--ignore-scripts']
  const installed = spawnSync('npm', args, { cwd: PEER_FOLDER, encoding: 'utf8' })
  if (installed.status !== 0) throw new Error(`the peer could not be installed:\n${installed.stderr}`)
}

async function addChannel(
  url: string,
  channel: { name: string; type?: number; base_url: string; models: string },
): Promise<void> {
  const body = JSON.stringify({ type: 1, key: 'bench-key', group: 'default', ...channel })
  const headers = { 'content-type': 'application/json', authorization: ACCESS_TOKEN }
  const response = await fetch(`${url}/api/channel/`, { method: 'POST', headers, body })
  const answer = (await response.json()) as { success?: boolean; message?: string }
  if (!answer.success) throw new Error(`the channel ${channel.name} was refused: ${response.status} ${answer.message}`)
}

async function setOption(url: string, key: string, value: string): Promise<void> {
  const headers = { 'content-type': 'application/json', authorization: ACCESS_TOKEN }
  const response = await fetch(`${url}/api/option/`, { method: 'PUT', headers, body: JSON.stringify({ key, value }) })
  const answer = (await response.json()) as { success?: boolean; message?: string }
  if (!answer.success) throw new Error(`the option ${key} was refused: ${response.status} ${answer.message}`)
}

function packageVersion(folder: string): string {
  return (JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { version: string }).version
}

function nodeVersion(): string {
  return spawnSync('node', ['--version'], { encoding: 'utf8' }).stdout.trim().replace(/^v/, '')
}
