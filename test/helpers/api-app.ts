import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Hono } from 'hono'
import type { ApiDeps } from '../../server/api/deps.ts'
import { mountApi } from '../../server/api/routes.ts'
import { openCaptures } from '../../server/captures/open-captures.ts'
import type { AppEnv } from '../../server/http/app-env.ts'
import { createAlertSender } from '../../server/jobs/alert-sender.ts'
import { createLogCopy } from '../../server/jobs/copy-log.ts'
import { createImportRuns } from '../../server/jobs/import-runs.ts'
import { createLogTail } from '../../server/jobs/log-tail.ts'
import { createSecrets } from '../../server/lib/secrets/secrets.ts'
import { Turns } from '../../server/lib/turns.ts'
import { createMailer } from '../../server/mails/mailer.ts'
import { createMetadataGuard } from '../../server/outbound/metadata-guard.ts'
import { createPostMessage } from '../../server/outbound/post-message.ts'
import { loadSettings } from '../../server/settings/settings.ts'
import { addUser, updateUser } from '../../server/store/accounts/user-changes.ts'
import type { Notice, Store } from '../../server/store/store.ts'
import { mailCertificate } from './mail-server.ts'

export const testCatalogue = [
  {
    type: 1,
    name: 'openai',
    label: 'OpenAI',
    color: 'green',
    defaultBaseUrl: 'https://api.openai.com',
    models: ['gpt-4', 'gpt-3.5-turbo'],
    keyHint: 'sk-…',
  },
  { type: 8, name: 'custom', label: 'Custom', color: 'pink', defaultBaseUrl: '', models: ['gpt-4'], keyHint: '' },
]

interface Answer {
  status: number
  headers: Headers
  /** The parsed body, or its text if it is not JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  json: any
}

interface CallOptions {
  /** Access token of the account to call as. */
  as?: string
  cookie?: string
  body?: unknown
  headers?: Record<string, string>
  address?: string
}

export type TestApi = Awaited<ReturnType<typeof createTestApi>>

/** The management API with a store, in this process, and with a clock that tests control. */
export async function createTestApi(store: Store, overrides: Partial<ApiDeps> = {}) {
  const warnings: string[] = []
  const notices: Notice[] = []
  const time = { ms: 1_700_000_000_000 }
  const clock = { nowMs: () => time.ms }
  const secrets = createSecrets('a secret key for tests only')
  const settings = await loadSettings(store, secrets, (message) => warnings.push(message))
  store.notices.subscribe((notice) => {
    if (notice !== 'reconnected') notices.push(notice)
  })
  const warn = (message: string) => void warnings.push(message)
  const mailer = createMailer({
    settings,
    localAddress: 'http://localhost:3000',
    warn,
    ca: mailCertificate.certificate,
  })
  const logTail = createLogTail(store, warn, { everyMs: 10 })
  const guard = createMetadataGuard(clock.nowMs)
  const captures = await openCaptures(
    { store, settings, secrets, clock, guard, warn },
    mkdtempSync(join(tmpdir(), 'captures-')),
    { capturesLost: () => undefined },
  )
  const dataDir = mkdtempSync(join(tmpdir(), 'imports-'))
  const imports = createImportRuns({
    ...{ store, secrets, clock, warn },
    dataDir,
  })
  const sendAlert = createAlertSender({ store, settings, mailer, secrets, clock, post: createPostMessage() })
  const app = new Hono<AppEnv>()
  const off = { limit: 0, windowMs: 1000 }
  mountApi(app, {
    store,
    settings,
    mailer,
    secrets,
    clock,
    turns: new Turns(),
    trustedProxies: [],
    version: '0.0.0-test',
    startTime: 1_600_000_000,
    catalogue: () => testCatalogue,
    testChannel: async () => ({ ok: true, timeMs: 1234, message: '', model: 'gpt-4', reply: 'Hello.' }),
    testAllChannels: async () => true,
    updateBalance: async () => ({ ok: true, value: 12.5 }),
    updateAllBalances: async () => true,
    upstreamModels: async () => ({ ok: true, value: ['gpt-4'] }),
    upstreamPrices: async () => ({ ok: true, value: { data: [{ model_name: 'gpt-4', model_ratio: 15 }] } }),
    syncPrices: async () => undefined,
    probeDraft: async () => ({
      ok: true,
      timeMs: 500,
      message: '',
      model: 'gpt-4',
      models: ['gpt-4'],
      modelsMessage: '',
    }),
    missingAt: () => [],
    priceList: (group) => ({ group, ratio: 1, models: [] }),
    virtualWarnings: () => [],
    dryRun: async ({ model, group }) => ({
      ...{ model, group, virtual: false, prompt_tokens: 0, hold: 0, refusal: null, steps: [] },
    }),
    logTail,
    captures,
    imports,
    logCopy: createLogCopy({
      ...{ store, nodeId: 'a node', clock, settings, guard, warn },
      config: { logSink: undefined, logSinkMonths: 0, dataDir },
      metrics: { logCopied: () => undefined },
    }),
    backups: { start: async () => 'off', nextAt: async () => 0 },
    sendAlert,
    warn,
    rateRules: { api: off, critical: off, loginFailures: off },
    ...overrides,
  })

  async function call(method: string, path: string, options: CallOptions = {}): Promise<Answer> {
    const headers: Record<string, string> = { ...options.headers }
    if (options.as !== undefined) headers.authorization = `Bearer ${options.as}`
    if (options.cookie !== undefined) headers.cookie = options.cookie
    const init: RequestInit = { method, headers }
    if (options.body !== undefined) {
      init.body = typeof options.body === 'string' ? options.body : JSON.stringify(options.body)
    }
    const response = await app.request(path, init, { socketAddress: options.address ?? '203.0.113.9' })
    const { status } = response
    // Only JSON is read, because reading an event stream would never end. Tests that need other formats call the app
    // directly.
    if (!response.headers.get('content-type')?.includes('json')) {
      await response.body?.cancel()
      return { status, headers: response.headers, json: undefined }
    }
    const text = await response.text()
    return { status, headers: response.headers, json: text === '' ? undefined : JSON.parse(text) }
  }

  let made = 0
  /** Creates an account with an access token. No password is hashed: tests that log in pass a hash. */
  async function addPerson(fields: { role?: number; quota?: number; username?: string; password?: string } = {}) {
    const username = fields.username ?? `user${++made}`
    const token = `access-token-of-${username}`
    const id = await store.write(async (trx) => {
      const id = await addUser(trx, {
        username,
        display_name: username,
        password: fields.password ?? '',
        role: fields.role ?? 1,
        quota: fields.quota ?? 1000,
        created_time: 1_600_000_000,
      })
      await updateUser(trx, id, { access_token_hash: secrets.fingerprint(token, 'access-token') })
      return id
    })
    return { id, username, token }
  }

  return {
    app,
    call,
    addPerson,
    imports,
    dataDir,
    store,
    settings,
    secrets,
    mailer,
    clock,
    logTail,
    sendAlert,
    time,
    warnings,
    notices,
  }
}

/** A cookie that a response sets (by default the session cookie), formatted as a Cookie header. */
export function cookieOf(answer: { headers: Headers }, name = 'session'): string {
  const set = answer.headers.getSetCookie().find((line) => line.startsWith(`${name}=`))
  return set?.split(';')[0] ?? ''
}
