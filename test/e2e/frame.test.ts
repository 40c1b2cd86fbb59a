// The frame that is drawn before a page's code has loaded. Its heading must be at the same position as the page's own
// heading.
import { beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { pages } from '../../console/app/pages.ts'
import { languageCodes } from '../../console/lib/languages.ts'
import { swept } from '../helpers/sweeps.ts'
import { openConsole, rootAccount, type VisitOptions } from './support/console.ts'
import { frame, openHeld } from './support/held.ts'
import { oneOfEach } from './support/one-of-each.ts'
import { person } from './support/screen.ts'

const site = openConsole()
setDefaultTimeout(300_000)

beforeAll(async () => {
  await site.addUser(person.username)
  await oneOfEach(site)
})

interface Box {
  text: string
  x: number
  y: number
  height: number
}

/** The text of an element, and its position and height rounded to half a pixel. */
const boxOf = (page: Page, selector: string): Promise<Box | undefined> =>
  page.evaluate((wanted) => {
    const element = document.querySelector(wanted)
    if (!element) return undefined
    const { x, y, height } = element.getBoundingClientRect()
    const half = (value: number) => Math.round(value * 2) / 2
    return { text: element.textContent ?? '', x: half(x), y: half(y), height: half(height) }
  }, selector)

const widthOf = (page: Page, selector: string) =>
  page.evaluate((wanted) => document.querySelector(wanted)?.getBoundingClientRect().width ?? 0, selector)

const framed = pages.filter(({ heading }) => heading)
const looks: { who: string; options: VisitOptions; shown: typeof framed }[] = [
  {
    who: 'an administrator, 1920 px',
    options: { as: rootAccount, language: 'en', width: 1920 },
    shown: framed,
  },
  {
    who: 'an administrator in Chinese, 390 px',
    options: { as: rootAccount, language: 'zh', width: 390 },
    shown: framed,
  },
  {
    who: 'an administrator in Japanese, 390 px',
    options: { as: rootAccount, language: 'ja', width: 390 },
    shown: framed,
  },
  {
    who: 'a person, 1000 px',
    options: { as: person, language: 'en', width: 1000 },
    shown: framed.filter((each) => each.for !== 'admins'),
  },
]
for (const { who, options, shown } of looks) {
  test(`each page appears where its frame was: ${who}`, async () => {
    expect(shown.length).toBeGreaterThan(8)
    await using visit = await site.visit(options)
    const { page } = visit
    for (const { path, heading } of swept(shown, ({ path }) => `${who} ${path}`)) {
      const letGo = await openHeld(page, path.replace('$id', '1'))
      await page.locator(`${frame} .text-xl`).waitFor()
      const before = {
        title: await boxOf(page, `${frame} .text-xl`),
        text: await boxOf(page, `${frame} .text-muted`),
        side: await widthOf(page, `${frame} > .bg-sunken`),
      }
      await letGo()
      // The start page first waits for the answer whether there is a custom home page. If there is none, it shows its
      // heading on a separate line.
      const title = path === '/' ? 'main p.text-xl' : 'main h1'
      await page.locator(title).waitFor()
      const after = {
        title: await boxOf(page, title),
        text: heading?.text && (await boxOf(page, 'main h1 + p')),
        side: await widthOf(page, 'aside'),
      }
      expect([path, before]).toEqual([path, after])
      expect([path, await page.locator(frame).count()]).toEqual([path, 0])
      // Clears the storage, so that the next page is opened as on a first visit. A new browser context for each page
      // would take half of the test's time.
      await page.evaluate(() => {
        localStorage.clear()
        sessionStorage.clear()
      })
    }
  })
}

test('a collapsed sidebar is narrow from the first paint', async () => {
  await using visit = await site.visit({ as: rootAccount, stored: { 'ui.sidebar': 'icons' } })
  const { page } = visit
  const letGo = await openHeld(page, '/token')
  await page.locator(frame).waitFor()
  const width = await widthOf(page, `${frame} > .bg-sunken`)
  await letGo()
  expect([width, await widthOf(page, 'aside')]).toEqual([56, 56])
})

/** Waits until the page is parsed and the script that may draw a frame has run; returns whether it drew one. */
async function drawn(page: Page): Promise<boolean> {
  await page.waitForFunction(() => document.readyState !== 'loading')
  const scripts = page.locator('script[data-route]')
  if ((await scripts.count()) === 0) return false
  await page.waitForFunction(() => (window as unknown as { drawings?: number }).drawings === 1)
  return true
}

const others = [
  { what: 'on an admin page for a user who is not an admin', path: '/channel', as: person, asks: false },
  { what: 'for a visitor who is not logged in', path: '/channel', as: undefined, asks: false },
  { what: 'on the home page for a visitor who is not logged in', path: '/', as: undefined, asks: false },
  { what: 'on a page that does not exist', path: '/no/such/page', as: rootAccount, asks: true },
  {
    what: 'on the audit log tab, which is wider than the settings page',
    path: '/setting?tab=audit',
    as: rootAccount,
    asks: true,
  },
  { what: 'on a home page with custom content', path: '/', as: rootAccount, asks: true, written: 'Welcome' },
]
for (const { what, path, as, asks, written } of others) {
  test(`no frame is drawn ${what}`, async () => {
    await using visit = await site.visit({
      ...(as && { as }),
      ...(written && { stored: { home_page_content: written } }),
    })
    const { page } = visit
    await page.addInitScript(() => {
      const seen = (event: Event) => {
        const script = event.target instanceof HTMLScriptElement ? event.target : undefined
        if (script?.dataset['route'] !== undefined) Object.assign(window, { drawings: 1 })
      }
      document.addEventListener('load', seen, true)
    })
    const letGo = await openHeld(page, path)
    expect([await drawn(page), await page.locator('#root > *').count()]).toEqual([asks, 0])
    await letGo()
  })
}

test('an unreadable login record is treated as logged out; an unknown language is ignored', async () => {
  const broken = ['not json', 'null', '{"id":1', '{"role":100}', '{"id":1,"username":"root","role":"100"}']
  for (const user of broken) {
    await using visit = await site.visit({ as: rootAccount, stored: { user } })
    const { page } = visit
    const letGo = await openHeld(page, '/channel')
    const asked = 'link[rel="modulepreload"][href*="/login.page-"]'
    await page.locator(asked).waitFor({ state: 'attached' })
    expect([user, await page.locator('script[data-route]').count()]).toEqual([user, 0])
    await letGo()
    await page.getByRole('heading', { name: 'user login' }).waitFor()
  }
  await using visit = await site.visit({ as: rootAccount, stored: { 'ui.lang': 'zh-CN' } })
  const { page } = visit
  const letGo = await openHeld(page, '/channel')
  await page.locator(frame).getByText('channels', { exact: true }).waitFor()
  await letGo()
  await page.getByRole('heading', { name: 'channels', exact: true }).waitFor()
})

test('the heading stays visible while a part of the page loads slowly', async () => {
  await using visit = await site.visit({ as: rootAccount })
  const { page } = visit
  await page.addInitScript(() => {
    const seen = { frame: false, gap: false }
    Object.assign(window, { seen })
    const look = () => {
      const stands = document.querySelector('#root > [aria-hidden="true"]') !== null
      if (stands) seen.frame = true
      else if (seen.frame && !document.querySelector('main h1')) seen.gap = true
      requestAnimationFrame(look)
    }
    look()
  })
  const letGo = await openHeld(page, '/token', '**/assets/token.en-*.js')
  // After the request for the status, the console's own script has run.
  await page.waitForRequest('**/api/status')
  await page.waitForTimeout(1000)
  expect(await page.locator(frame).count()).toBe(1)
  await letGo()
  expect(await page.evaluate(() => (window as unknown as { seen: object }).seen)).toEqual({ frame: true, gap: false })
})

test('if a part of the page is very slow, the shell and its menu replace the frame', async () => {
  await using visit = await site.visit({ as: rootAccount })
  const { page } = visit
  const letGo = await openHeld(page, '/token', '**/assets/token.en-*.js')
  await page.locator(frame).waitFor()
  await page.getByText('Loading').first().waitFor()
  expect(await page.locator(frame).count()).toBe(0)
  await letGo()
})

test('a frame is drawn if its script runs before the page is parsed', async () => {
  await using visit = await site.visit({ as: rootAccount })
  const { page } = visit
  // The script is available immediately, as if it came from the browser's cache.
  const source = await (async () => {
    const asked = page.waitForResponse('**/assets/frame-en-*.js')
    await visit.open('/token')
    return await (await asked).text()
  })()
  await page.addInitScript(
    (code) => {
      const route = document.createElement('i')
      route.dataset['route'] = String(code.route)
      Object.defineProperty(document, 'currentScript', { get: () => route, configurable: true })
      new Function(code.source)()
      Reflect.deleteProperty(document, 'currentScript')
    },
    {
      source,
      route: await page.evaluate(() => document.querySelector<HTMLElement>('script[data-route]')?.dataset['route']),
    },
  )
  await page.route('**/assets/frame-en-*.js', (route) => route.fulfill({ contentType: 'text/javascript', body: '' }))
  const letGo = await openHeld(page, '/token')
  await page.locator(frame).getByText('my tokens').waitFor()
  await letGo()
})

test('a failing script that is not part of the console does not affect the page', async () => {
  await using visit = await site.visit({ as: rootAccount, expectedErrors: /no-such-file|status of 404|ERR_FAILED/ })
  const { page } = visit
  await visit.open('/token')
  for (const src of ['/no-such-file.js', '/assets/no-such-file.js']) {
    await page.route(`**${src}`, (route) => route.abort())
    const failed = await page.evaluate(
      (address) =>
        new Promise<string>((done) => {
          const script = document.createElement('script')
          Object.assign(script, { type: 'module', src: address, onerror: () => done('failed') })
          document.head.append(script)
        }),
      src,
    )
    expect(failed).toBe('failed')
  }
  await page.getByRole('heading', { name: 'my tokens' }).waitFor()
})

test('if the console’s script cannot be loaded, a message in the page’s language is shown', async () => {
  const words = {
    en: 'The console could not be loaded. Please reload the page.',
    zh: '控制台无法加载，请刷新页面。',
    ja: 'コンソールを読み込めませんでした。ページを再読み込みしてください。',
  }
  for (const language of languageCodes) {
    for (const [file, fate] of [
      ['core', 'lost'],
      ['index', 'lost'],
      ['core', 'not understood'],
    ] as const) {
      await using visit = await site.visit({ as: rootAccount, language, expectedErrors: /ERR_FAILED|Unexpected token/ })
      const { page } = visit
      await page.route(`**/assets/${file}-*.js`, (route) =>
        fate === 'lost' ? route.abort() : route.fulfill({ contentType: 'text/javascript', body: 'export const = 1' }),
      )
      await page.goto('/token')
      await page.getByText(words[language]).waitFor()
      expect((await page.locator('body').textContent())?.trim()).toBe(words[language])
    }
  }
})
