import { afterAll, beforeAll, setDefaultTimeout } from 'bun:test'
import { join } from 'node:path'
import type { BrowserContext, Page } from 'playwright-core'
import { languages, type PlainLanguage } from '../../../console/lib/languages.ts'
import { buildConsoleIfStale } from '../../../tools/console-build.mjs'
import { type GatewayProcess, Installation } from '../../helpers/gateway-process.ts'
import { borrowBrowser, liveBrowser, returnBrowser } from './browser.ts'
import { patienceMs } from './eventually.ts'
import { slowDown } from './slowness.ts'
import { forgetToasts, keepToasts } from './toasts.ts'
import { type OpenPage, UsedPages, watchedPage } from './used-pages.ts'

interface Session {
  name: string
  value: string
  user: unknown
}

/** An account to visit as. `root` exists from the start; `addUser` creates others. */
export interface Account {
  username: string
  password: string
}

export const rootAccount: Account = { username: 'root', password: 'root password' }

export interface VisitOptions {
  /** The logged-in account; if omitted, the visitor is not logged in. */
  as?: Account
  theme?: 'light' | 'dark'
  language?: PlainLanguage | 'pseudo'
  /** The browser's language, which applies if the visitor has not chosen one. */
  browserLanguage?: PlainLanguage
  /** The values that an earlier visit left in the browser's storage. */
  stored?: Readonly<Record<string, string>>
  width?: number
  height?: number
  /** Expected errors in the browser's console, for example for a refused call. */
  expectedErrors?: RegExp
}

/** The browser's locale for a page in this language. */
function localeOf(language: VisitOptions['language'] = 'en'): string {
  return language === 'en' || language === 'pseudo' ? 'en-US' : languages[language].tag
}

/** A separate page with empty storage. If errors were seen during the visit, ending it fails the test. */
export interface Visit extends AsyncDisposable {
  page: Page
  context: BrowserContext
  /** Opens a path of the console and waits for its heading. */
  open(path: string): Promise<void>
  /** The calls that the page has made, in order, such as `GET /api/token/?p=0`. */
  calls(): string[]
}

const narrow = 600
/**
 * The check whether the console's build is up to date. It reads all source files, so it runs only once in a test run.
 */
const shared = globalThis as typeof globalThis & { tollgateConsoleBuild?: Promise<void> }
/** Turns off rate limits, because the requests of many visitors come from one browser. */
const unlimited = { GLOBAL_API_RATE_LIMIT: '0', GLOBAL_WEB_RATE_LIMIT: '0', CRITICAL_RATE_LIMIT: '0' }
/**
 * Browsers log this for every response with a status of 4xx. The tests check such responses themselves, so the message
 * is not an error.
 */
const refusedCall = /Failed to load resource: the server responded with a status of 4\d\d/

/** A server with fresh data and a browser, for the tests of one file. Nothing is mocked. */
export class Console {
  #installation: Installation | undefined
  #gateway: GatewayProcess | undefined
  readonly #usedPages = new UsedPages()
  readonly #sessions = new Map<string, Promise<Session>>()
  readonly #env: Record<string, string>

  constructor(env: Record<string, string> = {}) {
    this.#env = env
  }

  get gateway(): GatewayProcess {
    if (!this.#gateway) throw new Error('the server is not running')
    return this.#gateway
  }

  /** The data folder of the server. */
  get folder(): string {
    if (!this.#installation) throw new Error('the server is not running')
    return this.#installation.folder
  }

  async start(): Promise<void> {
    // If CONSOLE_DIR is set, the console in that folder has already been built.
    if (process.env['CONSOLE_DIR'] === undefined) {
      shared.tollgateConsoleBuild ??= buildConsoleIfStale()
      await shared.tollgateConsoleBuild
    }
    this.#installation = new Installation(undefined, { ...unlimited, ...this.#env })
    this.#gateway = await this.#installation.start()
    await borrowBrowser()
  }

  /** Runs `npm run seed` with these arguments, to fill the installation with data. */
  async seed(...args: string[]): Promise<void> {
    await this.#usedPages.close()
    await this.gateway.stop()
    const { code, output } =
      (await this.#installation?.runProgram(join(import.meta.dir, '../../../tools/seed/main.ts'), args)) ?? {}
    if (code !== 0) throw new Error(`seeding failed: ${output}`)
    this.#gateway = await this.#installation?.start()
  }

  async stop(): Promise<void> {
    await this.#usedPages.close()
    await returnBrowser()
    await this.#installation?.[Symbol.asyncDispose]()
  }

  /** Calls the management API as root, and throws if the call fails. */
  api<T = unknown>(method: string, path: string, body?: unknown): Promise<T> {
    return this.gateway.api<T>(method, path, body)
  }

  /** Creates an account with some quota. */
  async addUser(username: string, { role = 1, quota = 1_000_000 } = {}): Promise<Account & { id: number }> {
    const password = 'a long password'
    const { id } = await this.api<{ id: number }>('POST', '/api/user/', { username, password, display_name: username })
    if (role >= 10) await this.api('POST', '/api/user/manage', { username, action: 'promote' })
    await this.api('PUT', '/api/user/', { id, quota })
    return { id, username, password }
  }

  /** Calls the management API as the given account, with the same session that its visits use. */
  async apiAs<T = unknown>(account: Account, method: string, path: string, body?: unknown): Promise<T> {
    const { name, value } = await this.#login(account)
    const response = await fetch(this.gateway.url + path, {
      method,
      headers: { cookie: `${name}=${value}` },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const answer = (await response.json()) as { success: boolean; message: string; data: T }
    if (!answer.success) throw new Error(`${method} ${path}: ${answer.message}`)
    return answer.data
  }

  /** Logs each account in only once. */
  #login(account: Account): Promise<Session> {
    const known = this.#sessions.get(account.username)
    if (known !== undefined) return known
    const session = this.#newSession(account)
    this.#sessions.set(account.username, session)
    return session
  }

  async #newSession(account: Account): Promise<Session> {
    const response = await fetch(`${this.gateway.url}/api/user/login`, {
      method: 'POST',
      body: JSON.stringify({ username: account.username, password: account.password }),
    })
    const answer = (await response.json()) as { success: boolean; message: string; data: unknown }
    const [, name, value] = /^(session)=([^;]+)/.exec(response.headers.getSetCookie()[0] ?? '') ?? []
    if (!answer.success || name === undefined || value === undefined) throw new Error(`login: ${answer.message}`)
    return { name, value, user: answer.data }
  }

  /** Opens a page. Use it with `await using`. */
  async visit(options: VisitOptions = {}): Promise<Visit> {
    const { url } = this.gateway
    const width = options.width ?? 1366
    const viewport = { width, height: options.height ?? (width > narrow ? 860 : 844) }
    const locale = localeOf(options.language ?? options.browserLanguage)
    const session = options.as && (await this.#login(options.as))
    const stored = {
      'test.prepared': 'yes',
      ...(session && { user: JSON.stringify(session.user) }),
      ...(options.theme && { 'ui.theme': options.theme }),
      ...(options.language && { 'ui.lang': options.language }),
      ...options.stored,
    }
    const key = `${url} ${locale}`
    const used = this.#usedPages.take(key)
    const open = used ?? (await newPage({ baseURL: url, locale, viewport }, stored))
    const { page, context } = open
    if (used) await context.clearCookies()
    if (session) await context.addCookies([{ name: session.name, value: session.value, url, httpOnly: true }])
    if (used) await begin(page, viewport, stored)
    const { seen } = open
    Object.assign(seen, { calls: [], faults: [], expected: options.expectedErrors })
    return {
      page,
      context,
      calls: () => [...seen.calls],
      async open(path) {
        await page.goto(path)
        // Checks on every animation frame; a locator would check again only after half a second.
        await page.waitForFunction(() => (document.querySelector('h1')?.getClientRects().length ?? 0) > 0)
      },
      [Symbol.asyncDispose]: async () => {
        const { faults } = seen
        if (faults.length === 0) return this.#usedPages.giveBack(key, open)
        await context.close()
        throw new Error(`The page was not clean:\n${[...new Set(faults)].join('\n')}`)
      },
    }
  }
}

/** A page in a new browser context. `stored` is written to the storage before the first page's own scripts run. */
async function newPage(
  options: { baseURL: string; locale: string; viewport: { width: number; height: number } },
  stored: Readonly<Record<string, string>>,
): Promise<OpenPage> {
  const browser = await liveBrowser()
  const context = await browser.newContext({ ...options, permissions: ['clipboard-read', 'clipboard-write'] })
  const page = await context.newPage()
  page.setDefaultTimeout(patienceMs)
  await keepToasts(page)
  // The script runs before the scripts of each page, but writes only on the first page, so that values stored later
  // by pages are kept.
  await context.addInitScript((values) => {
    // Frames within a page may have no access to storage.
    if (location.protocol === 'about:' || window !== top || localStorage.getItem('test.prepared') !== null) return
    for (const [name, value] of Object.entries(values)) localStorage.setItem(name, value)
  }, stored)
  await slowDown(context, page)
  return watchedPage(page, context, options.baseURL, refusedCall)
}

/** Prepares a page that was used before, so that it is like a new one with these values in its storage. */
async function begin(
  page: Page,
  viewport: { width: number; height: number },
  stored: Readonly<Record<string, string>>,
): Promise<void> {
  forgetToasts(page)
  await page.setViewportSize(viewport)
  // Storage can be filled only from a page of the server; this one has no scripts.
  await page.goto('/healthz')
  await page.evaluate((values) => {
    localStorage.clear()
    for (const [name, value] of Object.entries(values)) localStorage.setItem(name, value)
  }, stored)
}

/** Starts a server and a browser before the tests of this file, and stops them afterwards. */
export function openConsole(env: Record<string, string> = {}): Console {
  const console = new Console(env)
  setDefaultTimeout(300_000)
  beforeAll(() => console.start(), 300_000)
  afterAll(() => console.stop())
  return console
}
