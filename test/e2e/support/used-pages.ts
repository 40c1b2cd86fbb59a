import type { BrowserContext, Page } from 'playwright-core'

/** A page in a browser context of its own. */
export interface OpenPage {
  readonly page: Page
  readonly context: BrowserContext
  /** True once a test has changed the page in a way that cannot be undone, for example by a script of its own. */
  isChanged: boolean
  /** What the current test has seen of the page. */
  readonly seen: {
    calls: string[]
    /** Errors that were not expected. */
    faults: string[]
    /** Expected errors in the browser's console. */
    expected: RegExp | undefined
  }
}

/** The tests of one file rarely use more pages than this at the same time. */
const mostKept = 4

/**
 * Keeps used pages and gives them to later tests, because a new browser context takes as much CPU time as opening two
 * pages. A later test gets the page in the state of a first visit: blank, with empty storage and no history.
 */
export class UsedPages {
  readonly #kept: { key: string; open: OpenPage }[] = []

  /** A page that was kept under this key, or undefined. */
  take(key: string): OpenPage | undefined {
    const place = this.#kept.findIndex((each) => each.key === key && !each.open.page.isClosed())
    return place < 0 ? undefined : this.#kept.splice(place, 1)[0]?.open
  }

  /** Keeps a page, or closes it if it cannot be used again. */
  async giveBack(key: string, open: OpenPage): Promise<void> {
    // This can fail, for example while the page is navigating. The page is then closed.
    const isUsable = this.#kept.length < mostKept && (await emptied(open).catch(() => false))
    if (!isUsable) return open.context.close()
    this.#kept.push({ key, open })
  }

  async close(): Promise<void> {
    await Promise.all(this.#kept.splice(0).map(({ open }) => open.context.close()))
  }
}

/** The methods with which a test can change a page or its context permanently. `emptied` can undo all other changes. */
const lasting = {
  page: ['addInitScript', 'close', 'emulateMedia', 'exposeBinding', 'exposeFunction', 'on', 'setDefaultTimeout'],
  clock: ['fastForward', 'install', 'pauseAt', 'resume', 'runFor', 'setFixedTime', 'setSystemTime'],
  context: [
    ...['addInitScript', 'clearPermissions', 'close', 'exposeBinding', 'exposeFunction', 'grantPermissions', 'newPage'],
    ...['newCDPSession', 'on', 'route', 'routeWebSocket', 'setExtraHTTPHeaders', 'setGeolocation', 'setOffline'],
  ],
}

/**
 * Records a page's calls and errors from now on, and records whether a test changes it permanently. Errors that match
 * `usual` are not recorded.
 */
export function watchedPage(page: Page, context: BrowserContext, origin: string, usual: RegExp): OpenPage {
  const open: OpenPage = { page, context, isChanged: false, seen: { calls: [], faults: [], expected: undefined } }
  const { seen } = open
  page.on('console', (message) => {
    if (message.type() !== 'error' && message.type() !== 'warning') return
    const text = message.text()
    if (!usual.test(text) && !seen.expected?.test(text)) seen.faults.push(`console ${message.type()}: ${text}`)
  })
  page.on('pageerror', ({ message }) => {
    if (!seen.expected?.test(message)) seen.faults.push(`page error: ${message}`)
  })
  context.on('request', (request) => {
    const address = request.url()
    if (address.startsWith(`${origin}/api/`)) seen.calls.push(`${request.method()} ${address.slice(origin.length)}`)
    else if (/^https?:/.test(address) && !address.startsWith(`${origin}/`) && !seen.expected?.test(address))
      seen.faults.push(`left the origin: ${address}`)
  })
  noteChanges(open)
  return open
}

function noteChanges(open: OpenPage): void {
  const watch = (target: object, names: readonly string[]) => {
    for (const name of names) {
      const method: unknown = Reflect.get(target, name)
      if (typeof method !== 'function') throw new Error(`a page has no ${name}`)
      Reflect.set(target, name, (...args: unknown[]) => {
        open.isChanged = true
        return Reflect.apply(method, target, args)
      })
    }
  }
  watch(open.page, lasting.page)
  watch(open.page.clock, lasting.clock)
  watch(open.context, lasting.context)
}

/** Returns a page to the state of a first visit, except for its cookies. Returns false if that is not possible. */
async function emptied(open: OpenPage): Promise<boolean> {
  const { page } = open
  if (open.isChanged || page.isClosed() || open.context.pages().length !== 1) return false
  await page.unrouteAll({ behavior: 'ignoreErrors' })
  const { origin, protocol } = new URL(page.url())
  if (protocol !== 'http:') return false
  await page.evaluate(() => sessionStorage.clear())
  await page.goto('about:blank')
  const session = await open.context.newCDPSession(page)
  open.isChanged = false
  const storageTypes = 'local_storage,indexeddb,cache_storage,service_workers'
  await session.send('Storage.clearDataForOrigin', { origin, storageTypes })
  await session.send('Page.resetNavigationHistory')
  await session.detach()
  return true
}
