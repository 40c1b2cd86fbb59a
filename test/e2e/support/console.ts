import { afterAll, beforeAll, setDefaultTimeout } from 'bun:test'
import { join } from 'node:path'
import type { BrowserContext, Page, Request } from 'playwright-core'
import { languages, type PlainLanguage } from '../../../console/lib/languages.ts'
import { buildConsoleIfStale } from '../../../tools/console-build.mjs'
import { type GatewayProcess, Installation } from '../../helpers/gateway-process.ts'
import { borrowBrowser, liveBrowser, returnBrowser } from './browser.ts'
import { patienceMs } from './eventually.ts'
import { slowDown } from './slowness.ts'
import { keepToasts } from './toasts.ts'

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
  /**
   * Whether to use the cache of an earlier visit that has ended, if there is one with the same account and settings.
   * The page and its storage are new. For sweeps over many pages, most of whose time would be spent on loading scripts.
   */
  withCache?: boolean
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
/** Turns off rate limits, because the requests of many visitors come from one browser. */
const unlimited = { GLOBAL_API_RATE_LIMIT: '0', GLOBAL_WEB_RATE_LIMIT: '0', CRITICAL_RATE_LIMIT: '0' }
/** Browsers log this for every unsuccessful response; the test itself decides whether the response was right. */
const refusedCall = /Failed to load resource: the server responded with a status of 4\d\d/

/** A server with fresh data and a browser, for the tests of one file. Nothing is mocked. */
export class Console {
  #installation: Installation | undefined
  #gateway: GatewayProcess | undefined
  readonly #sessions = new Map<string, Promise<Session>>()
  /** The contexts of visits that have ended and that another visit may use, by the account and settings. */
  readonly #idle = new Map<string, BrowserContext[]>()
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
    if (process.env['CONSOLE_DIR'] === undefined) await buildConsoleIfStale()
    this.#installation = new Installation(undefined, { ...unlimited, ...this.#env })
    this.#gateway = await this.#installation.start()
    await borrowBrowser()
  }

  /** Fills the installation with the data of `npm run seed`. */
  async seed(): Promise<void> {
    await this.gateway.stop()
    const { code, output } =
      (await this.#installation?.runProgram(join(import.meta.dir, '../../../tools/seed/main.ts'))) ?? {}
    if (code !== 0) throw new Error(`seeding failed: ${output}`)
    this.#gateway = await this.#installation?.start()
  }

  async stop(): Promise<void> {
    for (const context of [...this.#idle.values()].flat()) await context.close()
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
    const { as, theme, language, browserLanguage, stored, withCache } = options
    const like = JSON.stringify([as?.username, theme, language, browserLanguage, stored])
    const idle = withCache ? listOf(this.#idle, like) : undefined
    const context = idle?.pop() ?? (await this.#newContext(options))
    const page = await context.newPage()
    page.setDefaultTimeout(patienceMs)
    await page.setViewportSize(sizeOf(options))
    await keepToasts(page)
    await slowDown(context, page)
    const end = async () => {
      if (idle === undefined) return context.close()
      await forget(page, this.gateway.url)
      await page.close()
      idle.push(context)
    }
    return watched({ page, context, origin: this.gateway.url, expected: options.expectedErrors, end })
  }

  async #newContext(options: VisitOptions): Promise<BrowserContext> {
    const { url } = this.gateway
    const browser = await liveBrowser()
    const context = await browser.newContext({
      baseURL: url,
      locale: localeOf(options.language ?? options.browserLanguage),
      viewport: sizeOf(options),
      permissions: ['clipboard-read', 'clipboard-write'],
    })
    const session = options.as && (await this.#login(options.as))
    if (session) await context.addCookies([{ name: session.name, value: session.value, url, httpOnly: true }])
    // The script runs before the scripts of each page, but writes only on the first page, so that values stored later
    // by pages are kept.
    await context.addInitScript(
      (stored) => {
        // Frames within a page may have no access to storage.
        if (location.protocol === 'about:' || window !== top || localStorage.getItem('test.prepared') !== null) return
        for (const [name, value] of Object.entries(stored)) localStorage.setItem(name, value)
      },
      {
        'test.prepared': 'yes',
        ...(session && { user: JSON.stringify(session.user) }),
        ...(options.theme && { 'ui.theme': options.theme }),
        ...(options.language && { 'ui.lang': options.language }),
        ...options.stored,
      },
    )
    return context
  }
}

function sizeOf({ width = 1366, height }: VisitOptions): { width: number; height: number } {
  return { width, height: height ?? (width > narrow ? 860 : 844) }
}

/** The list of this name, which is created if it does not exist. */
function listOf<T>(lists: Map<string, T[]>, name: string): T[] {
  const list = lists.get(name) ?? []
  lists.set(name, list)
  return list
}

/** Leaves the page, and empties the storage of its origin. The login remains, because it is a cookie. */
async function forget(page: Page, origin: string): Promise<void> {
  // What a page writes when it is left must not remain either.
  await page.goto('about:blank')
  const session = await page.context().newCDPSession(page)
  const storageTypes = 'local_storage,indexeddb,cache_storage,service_workers'
  await session.send('Storage.clearDataForOrigin', { origin, storageTypes })
}

interface Watched {
  page: Page
  context: BrowserContext
  origin: string
  expected: RegExp | undefined
  end(): Promise<void>
}

function watched({ page, context, origin, expected, end }: Watched): Visit {
  const faults: string[] = []
  const calls: string[] = []
  page.on('console', (message) => {
    if (message.type() !== 'error' && message.type() !== 'warning') return
    const text = message.text()
    if (!refusedCall.test(text) && !expected?.test(text)) faults.push(`console ${message.type()}: ${text}`)
  })
  page.on('pageerror', ({ message }) => {
    if (!expected?.test(message)) faults.push(`page error: ${message}`)
  })
  const note = (request: Request) => {
    const address = request.url()
    if (address.startsWith(`${origin}/api/`)) calls.push(`${request.method()} ${address.slice(origin.length)}`)
    else if (/^https?:/.test(address) && !address.startsWith(`${origin}/`) && !expected?.test(address))
      faults.push(`left the origin: ${address}`)
  }
  // Not those of the page alone, because pages also open others.
  context.on('request', note)
  return {
    page,
    context,
    calls: () => [...calls],
    async open(path) {
      await page.goto(path)
      // Checks on every animation frame; a locator would check again only after half a second.
      await page.waitForFunction(() => (document.querySelector('h1')?.getClientRects().length ?? 0) > 0)
    },
    async [Symbol.asyncDispose]() {
      await end()
      context.off('request', note)
      if (faults.length > 0) throw new Error(`The page was not clean:\n${[...new Set(faults)].join('\n')}`)
    },
  }
}

/** Starts a server and a browser before the tests of this file, and stops them afterwards. */
export function openConsole(env: Record<string, string> = {}): Console {
  const console = new Console(env)
  setDefaultTimeout(300_000)
  beforeAll(() => console.start(), 300_000)
  afterAll(() => console.stop())
  return console
}
