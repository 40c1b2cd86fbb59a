import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type App, createApp } from '../../server/app.ts'
import { type Config, loadConfig } from '../../server/config.ts'
import { type Context, createContext } from '../../server/context.ts'
import { loadConsoleFiles } from '../../server/http/console-files.ts'
import { upgradeOf, webSockets } from '../../server/http/web-sockets.ts'
import type { Clock } from '../../server/lib/clock.ts'
import { createLogger } from '../../server/log.ts'
import type { Resolve } from '../../server/outbound/metadata-guard.ts'
import { addTokenWithKey } from './accounts.ts'
import { copySqliteTemplate } from './templates.ts'

const rootToken = 'testgatewayroottoken0123456789ABCDEFGHIJKLMNOPQR'
const rootAccessToken = 'testgatewayaccesstoken'

export interface ChannelInput {
  type?: number
  name?: string
  key?: string
  base_url: string
  models?: string
  group?: string
  priority?: number
  weight?: number
  other?: string
  model_mapping?: string
  system_prompt?: string
  config?: string
  key_mode?: 'single' | 'multi'
  limits?: readonly object[]
  draining?: boolean
}

/** A whole gateway on its own port, with a relay token and an access token for root. */
export interface TestGateway extends AsyncDisposable {
  url: string
  app: App
  context: Context
  config: Config
  /** Root's unlimited relay token, starting with `sk-`. */
  token: string
  /** Calls the management API as root. Throws unless the call succeeds. */
  api<T = unknown>(method: string, path: string, body?: unknown): Promise<T>
  setOption(key: string, value: string): Promise<void>
  addChannel(channel: ChannelInput): Promise<number>
  /** Creates a user and a limited token of that user, each with its given quota. */
  addCaller(
    quota: { user: number; token?: number },
    fields?: Record<string, unknown>,
  ): Promise<{ userId: number; tokenId: number; token: string }>
  /** Makes a relay call with root's token, or with the given one. */
  post(path: string, body: unknown, token?: string, init?: RequestInit): Promise<Response>
  /** The log rows of type "consume", newest first. */
  logs(): Promise<LogRow[]>
  balances(
    userId: number,
    tokenId: number,
  ): Promise<{ quota: number; used: number; remain: number; tokenUsed: number; holds: number }>
  close(): Promise<void>
}

export type LogRow = Awaited<ReturnType<typeof readLogs>>[number]

const readLogs = (context: Context) =>
  context.store.read.selectFrom('logs').selectAll().where('type', '=', 2).orderBy('id', 'desc').execute()

/**
 * Starts a gateway on SQLite in a temporary folder, or on the given database. Failed calls are not retried, because
 * most tests of failures check the result of a single attempt. `retries` keeps the product's defaults.
 */
export async function startTestGateway(
  options: {
    databaseUrl?: string
    clock?: Clock
    env?: Record<string, string>
    resolve?: Resolve
    retries?: true
  } = {},
): Promise<TestGateway> {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-'))
  if (options.databaseUrl === undefined) await copySqliteTemplate(join(folder, 'tollgate.db'))
  const config = loadConfig({
    DATA_DIR: folder,
    SECRET_KEY: 'test secret key of the gateway',
    INITIAL_ROOT_PASSWORD: 'root password',
    INITIAL_ROOT_TOKEN: rootToken,
    INITIAL_ROOT_ACCESS_TOKEN: rootAccessToken,
    ...(options.databaseUrl !== undefined && { DATABASE_URL: options.databaseUrl }),
    ...options.env,
  })
  const context = await createContext(
    config,
    createLogger('silent', { write: () => undefined }),
    options.clock,
    options.resolve,
  )
  const { metricsToken, basePath, consoleDir } = config
  const app = createApp(context, {
    metricsToken,
    basePath,
    // The console files are loaded only on request: few tests use the console, and reading the files takes a moment.
    ...(options.env?.['CONSOLE_DIR'] !== undefined && {
      console: loadConsoleFiles(consoleDir, basePath, context.api.settings.current),
    }),
  })
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    idleTimeout: 0,
    maxRequestBodySize: Number.MAX_SAFE_INTEGER,
    fetch: (request, bun) =>
      app.fetch(request, { socketAddress: bun.requestIP(request)?.address, upgrade: upgradeOf(bun, request) }),
    websocket: webSockets,
  })
  const url = `http://127.0.0.1:${server.port}`
  const started = gateway(url, app, context, config, async () => {
    await server.stop(true)
    await context.close()
    rmSync(folder, { recursive: true, force: true })
  })
  if (!options.retries) await withoutRetries(context)
  return started
}

/** Writes the options directly, because calls of the management API count towards the limits that some tests set. */
async function withoutRetries({ store, api: { settings } }: Context): Promise<void> {
  const rows = ['RetryTimes', 'SameChannelRetries'].map((key) => ({ key, value: '0' }))
  await store.write((trx) =>
    trx
      .insertInto('options')
      .values(rows)
      .onConflict((conflict) => conflict.column('key').doNothing())
      .execute(),
  )
  await settings.reload()
}

function gateway(url: string, app: App, context: Context, config: Config, stop: () => Promise<void>): TestGateway {
  const { read } = context.store
  const api = async <T>(method: string, path: string, body?: unknown): Promise<T> => {
    const response = await fetch(url + path, {
      method,
      headers: { authorization: rootAccessToken },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const answer = (await response.json()) as { success: boolean; message: string; data: T }
    if (!answer.success) throw new Error(`${method} ${path}: ${answer.message}`)
    return answer.data
  }
  return {
    url,
    app,
    context,
    config,
    token: `sk-${rootToken}`,
    api,
    setOption: (key, value) => api('PUT', '/api/option/', { key, value }),
    async addChannel(channel) {
      const ids = await api<number[]>('POST', '/api/channel/', {
        type: 1,
        name: 'test',
        key: 'upstream-key',
        models: 'gpt-4o',
        group: 'default',
        ...channel,
      })
      return ids[0] ?? 0
    },
    async addCaller(quota, fields = {}) {
      const username = `u${Math.floor(Math.random() * 1e9)}`
      await api('POST', '/api/user/', { username, password: 'password 1', display_name: username })
      const user = await read
        .selectFrom('users')
        .select('id')
        .where('username', '=', username)
        .executeTakeFirstOrThrow()
      await api('PUT', '/api/user/', { id: user.id, username, quota: quota.user })
      const { secrets, store } = context.api
      const token = await store.write((trx) => addTokenWithKey(trx, secrets, user.id, quota.token, fields))
      return { userId: user.id, ...token }
    },
    post: (path, body, token = `sk-${rootToken}`, init = {}) =>
      fetch(url + path, {
        method: 'POST',
        body: typeof body === 'string' ? body : JSON.stringify(body),
        ...init,
        headers: {
          authorization: `Bearer ${token}`,
          'content-type': 'application/json',
          ...(init.headers as Record<string, string>),
        },
      }),
    logs: () => readLogs(context),
    async balances(userId, tokenId) {
      const user = await read
        .selectFrom('users')
        .select(['quota', 'used_quota'])
        .where('id', '=', userId)
        .executeTakeFirstOrThrow()
      const token = await read
        .selectFrom('tokens')
        .select(['remain_quota', 'used_quota'])
        .where('id', '=', tokenId)
        .executeTakeFirstOrThrow()
      const holds = await read.selectFrom('holds').select('id').execute()
      return {
        quota: user.quota,
        used: user.used_quota,
        remain: token.remain_quota,
        tokenUsed: token.used_quota,
        holds: holds.length,
      }
    },
    close: stop,
    [Symbol.asyncDispose]: stop,
  }
}
