// Sections of the specification (see coverage.md): 1 (status document, footer), 2 (routes, top menu, 404, chunk limit),
// 3 (stored data), 8 (failed calls), 9 (durations, positions of messages).
import { describe, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { axeFaults } from './support/audit.ts'
import { refuseClipboard } from './support/clipboard.ts'
import { letDraw, stopClock } from './support/clock.ts'
import { openConsole, rootAccount, type Visit } from './support/console.ts'
import { eventually, untilItPasses } from './support/eventually.ts'
import { shiftsOf } from './support/shifts.ts'
import { toastOf, toastShown } from './support/toasts.ts'

const site = openConsole()
const option = (key: string, value: string) => site.api('PUT', '/api/option/', { key, value })
const menuOf = (page: Page) => page.getByRole('navigation', { name: 'Menu' }).getByRole('link').allTextContents()

/** Delays the palette's chunk. `askFor` requests the chunk with the palette's shortcut, and `release` lets it load. */
async function heldPalette(page: Page) {
  const part = /\/assets\/palette[^/]*\.js$/
  const held = Promise.withResolvers<void>()
  await page.route(part, async (route) => {
    await held.promise
    await route.continue()
  })
  return {
    release: held.resolve,
    async askFor() {
      const asked = page.waitForRequest(part)
      await page.keyboard.press('Control+k')
      await asked
    },
  }
}

const isFocused = (element: Element) => element === document.activeElement

describe('the menu', () => {
  test('spec 2: shows administrators the entries of the specification in the specification’s order, in groups, with other entries between them', async () => {
    await using visit = await site.visit({ as: rootAccount })
    await visit.open('/about')
    await eventually(async () =>
      (await menuOf(visit.page)).filter((entry, index, all) => all.indexOf(entry) === index),
    ).toEqual([
      'Home',
      'Playground',
      'Channels',
      'Virtual models',
      'Tokens',
      'Models',
      'Redemptions',
      'Top up',
      'Users',
      'Alerts',
      'Usage',
      'Budgets',
      'Logs',
      'Settings',
      'API reference',
      'About',
    ])
    const lists = visit.page.getByRole('navigation', { name: 'Menu' }).getByRole('list')
    for (const [name, first] of [
      ['Gateway', 'Channels'],
      ['Accounts', 'Redemptions'],
      ['Activity', 'Usage'],
      ['More', 'Settings'],
    ] as const)
      expect(await lists.and(visit.page.getByLabel(name)).getByRole('link').first().textContent()).toBe(first)
  })

  test('spec 6: has no administrator entries for other users, and few entries for visitors who are not logged in', async () => {
    const user = await site.addUser('menu')
    await using visit = await site.visit({ as: user })
    await visit.open('/about')
    await eventually(() => menuOf(visit.page)).toContain('Tokens')
    const own = new Set(await menuOf(visit.page))
    for (const entry of ['Channels', 'Redemptions', 'Users']) expect(own.has(entry)).toBe(false)
    await using nobody = await site.visit()
    await nobody.open('/about')
    await eventually(async () => [...new Set(await menuOf(nobody.page))]).toEqual(['Home', 'About'])
    await nobody.page.getByRole('link', { name: 'Log in' }).waitFor()
  })

  test('spec 2: has a Chat entry after the first entry if a chat link is configured', async () => {
    await option('ChatLink', 'https://chat.example')
    await using visit = await site.visit({ as: rootAccount })
    const { page } = visit
    await visit.open('/about')
    await page.getByRole('link', { name: 'Chat' }).first().waitFor()
    await eventually(async () => [...new Set(await menuOf(page))].slice(0, 2)).toEqual(['Home', 'Chat'])
    await eventually(() => page.evaluate(() => localStorage.getItem('chat_link'))).toBe('https://chat.example')
    await option('ChatLink', '')
    await page.reload()
    await page.waitForFunction(() => localStorage.getItem('chat_link') === null)
  })

  test('spec 2: is a drawer on narrow screens, and contains Log out, or Log in and Register', async () => {
    await using visit = await site.visit({ as: rootAccount, width: 390 })
    const { page } = visit
    await visit.open('/token')
    await page.getByRole('button', { name: 'Open menu' }).click()
    const drawer = page.getByRole('dialog', { name: 'Menu' })
    await drawer.getByRole('button', { name: 'Log out' }).waitFor()
    // The account comes first, and the heading has the focus.
    await eventually(() => drawer.getByRole('link').first().textContent()).toContain('Profile')
    await eventually(() => drawer.getByRole('heading', { name: 'Menu' }).evaluate(isFocused)).toBe(true)
    await drawer.getByRole('link', { name: 'Logs' }).click()
    await drawer.waitFor({ state: 'detached' })
    await page.waitForURL('**/log')
    for (const [width, shown] of [
      [600, true],
      [601, false],
    ] as const) {
      await page.setViewportSize({ width, height: 800 })
      const visible = () => page.getByRole('button', { name: 'Open menu' }).isVisible()
      await eventually(async () => [width, await visible()]).toEqual([width, shown])
    }
    await using nobody = await site.visit({ width: 390 })
    await nobody.open('/about')
    await nobody.page.getByRole('button', { name: 'Open menu' }).click()
    await nobody.page.getByRole('link', { name: 'Log in' }).waitFor()
    await nobody.page.getByRole('link', { name: 'Register' }).waitFor()
  })
})

describe('the shell', () => {
  test('spec 2: any other path shows 404 and its text', async () => {
    for (const path of ['/no/such/page', '/token/no/such', '/dashboards']) {
      await using visit = await site.visit({ as: rootAccount })
      await visit.open(path)
      await eventually(() => visit.page.locator('h1').textContent()).toBe('404')
      await visit.page.getByText('the requested page was not found').waitFor()
    }
  })

  test('spec 3: stores the status document, and some of its values separately', async () => {
    await using visit = await site.visit()
    await visit.open('/login')
    await visit.page.waitForFunction(() => localStorage.getItem('status') !== null)
    const stored = await visit.page.evaluate(() => ({ ...localStorage }))
    expect(JSON.parse(stored['status'] ?? '')).toMatchObject({ system_name: 'Tollgate', quota_per_unit: 500_000 })
    expect(stored).toMatchObject({ system_name: 'Tollgate', quota_per_unit: '500000', display_in_currency: 'true' })
    await eventually(() => visit.calls()).toEqual(['GET /api/status'])
  })

  test('spec 8: an unreachable server is reported', async () => {
    await using visit = await site.visit({ expectedErrors: /ERR_FAILED|ERR_CONNECTION/ })
    await visit.page.route('**/api/status', (route) => route.abort())
    await visit.open('/login')
    await toastShown(visit.page, 'error', 'Error: cannot connect to the server normally!')
  })

  test('spec 8: if the server’s version differs from the page’s, a permanent notice offers to reload', async () => {
    await using visit = await site.visit()
    const { page } = visit
    await page.route('**/api/status', async (route) => {
      const response = await route.fetch()
      const json = await response.json()
      await route.fulfill({ response, json: { ...json, data: { ...json.data, version: '99.0.0' } } })
    })
    await page.clock.install()
    await visit.open('/login')
    const notice = toastOf(page, 'notice', 'New version available: 99.0.0. Reload the page to use it.')
    await notice.waitFor()
    await page.clock.runFor(60_000)
    await notice.getByRole('button', { name: 'Reload' }).waitFor()
  })

  test(`spec 1, 3: the logo comes from the settings; by default, it is the product’s own`, async () => {
    for (const path of ['/logo.png', '/logo.svg'])
      expect((await fetch(site.gateway.url + path)).headers.get('content-type')).toStartWith('image/')
    {
      await using visit = await site.visit()
      await visit.open('/login')
      await visit.page.locator('header a svg').first().waitFor()
      await eventually(() => visit.page.locator('#favicon').getAttribute('href')).toBe('/logo.svg')
    }
    await option('Logo', '/logo.png')
    await option('Footer', 'by us')
    try {
      await using visit = await site.visit()
      const { page } = visit
      await visit.open('/login')
      await page.locator('header img[src="/logo.png"]').waitFor()
      await eventually(() => page.locator('#favicon').getAttribute('href')).toBe('/logo.png')
      const stored = await page.evaluate(() => ({ ...localStorage }))
      expect(stored).toMatchObject({ logo: '/logo.png', footer_html: 'by us' })
    } finally {
      await option('Logo', '')
      await option('Footer', '')
    }
  })

  test('spec 2: without a configured footer, there is a line with the version', async () => {
    const { version } = await site.api<{ version: string }>('GET', '/api/status')
    await using visit = await site.visit()
    await visit.open('/login')
    await eventually(() => visit.page.locator('footer').textContent()).toContain(`Tollgate ${version}`)
  })

  test('spec 1: name and footer come from the settings; HTML in them cannot do harm', async () => {
    await option('SystemName', 'My gateway')
    await option(
      'Footer',
      '<b>hello</b><img src=x onerror="window.harmed=1"><script>window.harmed=1</script><style>*{display:none}</style>',
    )
    await using visit = await site.visit({ expectedErrors: /404/ })
    const { page } = visit
    await visit.open('/login')
    await page.getByText('My gateway').first().waitFor()
    await page.waitForFunction(() => document.title === 'user login · My gateway')
    await page.locator('footer b').waitFor()
    await eventually(() => page.locator('footer script, footer style').count()).toBe(0)
    expect(await page.evaluate(() => 'harmed' in window)).toBe(false)
    await option('SystemName', 'Tollgate')
    await option('Footer', '')
  })
  test('theme and language change immediately and are remembered', async () => {
    await using visit = await site.visit({ as: rootAccount })
    const { page } = visit
    await visit.open('/token')
    const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor)
    const light = await ground()
    await page.getByRole('button', { name: 'Theme: System' }).click()
    await page.getByRole('button', { name: 'Theme: Light' }).click()
    await page.getByRole('button', { name: 'Theme: Dark' }).waitFor()
    await eventually(() => ground()).not.toBe(light)
    await page.getByRole('combobox', { name: 'Switch language' }).selectOption('简体中文')
    await page.getByRole('heading', { name: '我的令牌' }).waitFor()
    await eventually(() => page.evaluate(() => document.documentElement.lang)).toBe('zh-CN')
    await page.reload()
    await page.getByRole('heading', { name: '我的令牌' }).waitFor()
    await eventually(() => page.evaluate(() => document.documentElement.dataset['theme'])).toBe('dark')
    await eventually(() => page.title()).toBe('我的令牌 · Tollgate')
  })

  test('the initial language is the language of the browser', async () => {
    for (const [browserLanguage, title] of [
      ['zh', '用户登录'],
      ['ja', 'ログイン'],
    ] as const) {
      await using visit = await site.visit({ browserLanguage })
      await visit.open('/login')
      await eventually(() => visit.page.locator('h1').textContent()).toBe(title)
    }
  })

  test('a page change moves the focus to the heading, and the skip link leads to the content', async () => {
    await using visit = await site.visit({ as: rootAccount })
    const { page } = visit
    await visit.open('/about')
    await page.getByRole('link', { name: 'Tokens' }).first().click()
    await page.getByRole('heading', { name: 'my tokens' }).waitFor()
    await page.waitForFunction(() => document.activeElement?.tagName === 'H1')
    await page.reload()
    await page.getByRole('heading', { name: 'my tokens' }).waitFor()
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await eventually(() => page.evaluate(() => document.activeElement?.tagName)).toBe('MAIN')
  })

  test('a new page begins at its top; the back button restores the scroll position of the previous page', async () => {
    await using visit = await site.visit({ as: rootAccount, height: 400 })
    const { page } = visit
    const offset = () => page.evaluate(() => window.scrollY)
    await visit.open('/setting?tab=operation')
    await page.waitForFunction(() => document.body.scrollHeight > 2000)
    await page.waitForFunction(() => !document.querySelector('.skeleton'))
    await page.evaluate(() => window.scrollTo(0, 900))
    await eventually(offset).toBe(900)
    // A real click would first scroll to the link.
    await page.getByRole('link', { name: 'About' }).first().dispatchEvent('click')
    await page.getByRole('heading', { level: 1, name: 'About' }).waitFor()
    await eventually(offset).toBe(0)
    await page.goBack()
    await eventually(offset).toBe(900)
  })
})

describe('failed calls', () => {
  const refusing = async (page: Page, status: number, body: object = {}) => {
    await page.unroute('**/api/token/?**')
    await page.route('**/api/token/?**', (route) => route.fulfill({ status, json: body }))
    // Presses Enter instead of clicking, because toasts may cover the button.
    await page.getByRole('button', { name: 'Refresh' }).press('Enter')
  }

  test('spec 8: are each reported with the message for their status', async () => {
    await using visit = await site.visit({ as: rootAccount, expectedErrors: /status of/ })
    const { page } = visit
    await visit.open('/token')
    await page.getByText('No tokens yet').waitFor()
    await refusing(page, 429)
    await toastShown(page, 'error', 'Error: too many requests, please try again later!')
    await refusing(page, 500)
    await toastShown(page, 'error', 'Error: internal server error, please contact the administrator!')
    await refusing(page, 405)
    await toastShown(page, 'info', 'this site is a demo only and has no server!')
    await refusing(page, 502)
    await toastShown(page, 'error', 'Error: Request failed with status code 502')
    await refusing(page, 404, { success: false, message: 'gone away' })
    await toastShown(page, 'error', 'Error: gone away')
    await refusing(page, 200, { success: false, message: 'not today' })
    await toastShown(page, 'error', 'Error: not today')
  })

  test('a repeated toast is shown once with a count', async () => {
    await using visit = await site.visit({ as: rootAccount, expectedErrors: /status of/ })
    const { page } = visit
    await visit.open('/token')
    await page.getByText('No tokens yet').waitFor()
    // A repeated toast is counted only if it follows soon after the first, so the page's clock is fixed.
    await page.clock.setFixedTime(Date.now())
    await refusing(page, 200, { success: false, message: 'again' })
    await toastShown(page, 'error', 'Error: again')
    await page.getByRole('button', { name: 'Retry' }).click()
    await toastShown(page, 'error', '2 times')
    expect(await toastOf(page, 'error', 'Error: again').count()).toBeLessThanOrEqual(1)
  })
})

describe('toasts', () => {
  const place = async (width: number) => {
    await using visit = await site.visit({ width })
    await visit.open('/login?expired=1')
    const message = toastOf(visit.page, 'error', 'not logged in')
    // Hovering over the toast keeps it open.
    await message.hover()
    const { x = 0, y = 0, width: own = 0, height = 0 } = (await message.boundingBox()) ?? {}
    return { x, width: own, below: (visit.page.viewportSize()?.height ?? 0) - y - height }
  }

  test('spec 9: are at the bottom right, and at the bottom centre on narrow screens, where they cover no menu', async () => {
    const wide = await place(1366)
    expect(wide.below).toBeLessThan(40)
    expect(wide.x + wide.width).toBeGreaterThan(1366 - 40)
    const narrow = await place(600)
    expect(narrow.below).toBeLessThan(40)
    expect(Math.abs(narrow.x + narrow.width / 2 - 300)).toBeLessThan(2)
  })

  test('disappear when their time is up, unless the pointer is on them; F6 jumps to them', async () => {
    await using visit = await site.visit()
    const { page } = visit
    await page.clock.install()
    await visit.open('/login?expired=1')
    const message = toastOf(page, 'error', 'not logged in')
    await message.hover()
    await stopClock(page)
    await letDraw(page, 200)
    await page.clock.runFor(8000)
    expect(await message.count()).toBe(1)
    await page.mouse.move(10, 500)
    await letDraw(page, 100)
    await page.clock.runFor(5000)
    await message.waitFor({ state: 'detached' })
    await page.clock.resume()
    await page.reload()
    await message.waitFor()
    await page.keyboard.press('F6')
    await page.keyboard.press('Enter')
    await message.waitFor({ state: 'detached' })
  })
})

describe('chunks that load later', () => {
  test('a page that cannot be loaded can be retried', async () => {
    await using visit = await site.visit({ as: rootAccount, expectedErrors: /ERR_FAILED|dynamically imported module/ })
    const { page } = visit
    await visit.open('/about')
    await page.route(/\/assets\/(?:form|token)[^/]*\.js$/, (route) => route.abort())
    await page.evaluate(() => history.pushState({}, '', '/token/add'))
    await page.evaluate(() => dispatchEvent(new PopStateEvent('popstate')))
    await page.getByRole('heading', { name: 'Could not load this page' }).waitFor()
    expect(await axeFaults(page)).toEqual([])
    await page.unrouteAll()
    await page.getByRole('button', { name: 'Retry' }).click()
    await page.getByRole('heading', { name: 'new token' }).waitFor()
  })

  test('a toast whose chunk cannot be loaded does not affect the page, and is shown with the next toast', async () => {
    await using visit = await site.visit({ as: rootAccount, expectedErrors: /ERR_FAILED/ })
    const { page } = visit
    const part = /\/assets\/toaster[^/]*\.js$/
    await page.route(part, (route) => route.abort())
    await visit.open('/token')
    await page.getByText('No tokens yet').waitFor()
    await page.route('**/api/token/?**', (route) => route.abort())
    const refused = page.waitForEvent('requestfailed', (request) => part.test(request.url()))
    await page.getByRole('button', { name: 'Refresh' }).click()
    await refused
    await page.getByRole('heading', { name: 'my tokens' }).waitFor()
    await page.unroute(part)
    await untilItPasses(async () => {
      await page.getByRole('button', { name: 'Refresh' }).press('Enter')
      await toastOf(page, 'error', 'Could not reach the server').first().waitFor({ timeout: 2000 })
    })
  })

  test('a toast stays visible while another chunk loads', async () => {
    await using visit = await site.visit({ as: rootAccount })
    const { page } = visit
    const palette = await heldPalette(page)
    await visit.open('/login?expired=1')
    const message = toastOf(page, 'error', 'not logged in')
    await message.hover()
    await palette.askFor()
    // Waits two animation frames, so that the page has drawn everything except the palette.
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))))
    expect(await message.isVisible()).toBe(true)
    palette.release()
    // The palette lists commands even on the login page, which is outside the console's shell.
    await page.getByRole('dialog', { name: 'Search and commands' }).getByRole('option').first().waitFor()
  })

  test('keys typed while the palette is loading do not affect the page', async () => {
    await using visit = await site.visit({ as: rootAccount })
    const { page } = visit
    const palette = await heldPalette(page)
    await visit.open('/channel')
    await page.getByRole('heading', { name: 'channels' }).waitFor()
    await palette.askFor()
    await page.keyboard.type('n')
    palette.release()
    await page.getByRole('dialog', { name: 'Search and commands' }).getByRole('option').first().waitFor()
    expect(page.url()).toEndWith('/channel')
  })

  test('a pending search of a list does not change the URL after the user has opened a form', async () => {
    await using visit = await site.visit({ as: rootAccount })
    const { page } = visit
    await page.clock.install()
    await visit.open('/token')
    await page.getByText('No tokens yet').waitFor()
    const held = Promise.withResolvers<void>()
    await page.route(/\/assets\/form[^/]*\.js$/, async (route) => {
      await held.promise
      await route.continue()
    })
    await stopClock(page)
    await page.getByLabel('Search by name').fill('typed last')
    await page.clock.runFor(250)
    await page.locator('main').getByRole('link', { name: 'New token' }).first().click()
    await page.waitForURL('**/token/add')
    // A search starts shortly after the last keystroke. In this test, it starts after the user has opened the form,
    // while the code of the form is loading.
    await page.clock.runFor(200)
    expect(await page.locator('h1').textContent()).toBe('my tokens')
    held.resolve()
    await page.clock.resume()
    await page.getByRole('heading', { name: 'new token' }).waitFor()
    expect(page.url()).toEndWith('/token/add')
  })

  test('spec 2: if a chunk does not load within 120 seconds, the page shows that it could not be loaded', async () => {
    await using visit = await site.visit({ as: rootAccount, expectedErrors: /./ })
    const { page } = visit
    await page.clock.install()
    await visit.open('/about')
    const part = /\/assets\/form[^/]*\.js$/
    await page.route(part, () => undefined)
    await stopClock(page)
    const asked = page.waitForRequest(part)
    await page.evaluate(() => history.pushState({}, '', '/token/add'))
    await page.evaluate(() => dispatchEvent(new PopStateEvent('popstate')))
    await asked
    await page.clock.runFor(119_000)
    expect(await page.getByText('Could not load this page').count()).toBe(0)
    await page.clock.runFor(2000)
    await page.clock.resume()
    await page.getByRole('heading', { name: 'Could not load this page' }).waitFor()
    await page.unrouteAll({ behavior: 'ignoreErrors' })
  })
})

describe('the keyboard', () => {
  test('Ctrl+K finds pages and commands; g and a letter go to a page; ? shows the help; single keys can be turned off', async () => {
    await using visit = await site.visit({ as: rootAccount })
    const { page } = visit
    await visit.open('/about')
    await page.keyboard.press('Control+k')
    const palette = page.getByRole('dialog', { name: 'Search and commands' })
    await palette.waitFor()
    await page.getByRole('combobox', { name: 'Search and commands' }).fill('new tok')
    await page.getByRole('option', { name: 'New token' }).waitFor()
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'new token' }).waitFor()
    await page.locator('h1').focus()
    // Both keys must be pressed within a second to count as one shortcut.
    await untilItPasses(async () => {
      await page.keyboard.press('g')
      await page.keyboard.press('t')
      await page.waitForURL('**/token', { timeout: 1000 })
    })
    await page.getByRole('heading', { name: 'my tokens' }).waitFor()
    await page.keyboard.press('?')
    const help = page.getByRole('dialog', { name: 'Keyboard shortcuts' })
    await help.getByRole('switch', { name: 'Single-key shortcuts' }).uncheck()
    await page.keyboard.press('Escape')
    await help.waitFor({ state: 'detached' })
    await page.keyboard.press('n')
    await page.keyboard.press('Control+k')
    await palette.waitFor()
    await eventually(() => page.url()).toEndWith('/token')
  })

  test('for users who may create things, the palette leads to the forms for creating them', async () => {
    const forms = [
      ['New token', '/token/add'],
      ['New channel', '/channel/add'],
      ['New user', '/user/add'],
      ['New redemption codes', '/redemption/add'],
    ] as const
    await using visit = await site.visit({ as: rootAccount })
    const { page } = visit
    await visit.open('/about')
    for (const [name, path] of forms) {
      await page.keyboard.press('Control+k')
      await page.getByRole('combobox', { name: 'Search and commands' }).fill(name)
      await page.getByRole('option', { name, exact: true }).click()
      await page.waitForURL(`**${path}`)
      await page.getByRole('button', { name: 'Submit' }).waitFor()
    }
    await using other = await site.visit({ as: await site.addUser('maker') })
    await other.open('/about')
    await other.page.keyboard.press('Control+k')
    await other.page.getByRole('combobox', { name: 'Search and commands' }).fill('new')
    await eventually(() => other.page.getByRole('option').allTextContents()).toEqual(['New token'])
  })

  test('the palette copies the base URL, or leads to the page that shows it', async () => {
    await using visit = await site.visit({ as: await site.addUser('copier') })
    const { page } = visit
    const copy = async () => {
      await page.keyboard.press('Control+k')
      await page.getByRole('combobox', { name: 'Search and commands' }).fill('base url')
      await page.getByRole('option', { name: 'Copy base URL' }).click()
    }
    await visit.open('/about')
    await copy()
    await toastShown(page, 'success', 'copied to clipboard!')
    const address = `${new URL(page.url()).origin}/v1`
    await eventually(() => page.evaluate(() => navigator.clipboard.readText())).toBe(address)
    await refuseClipboard(page)
    await visit.open('/about')
    await copy()
    await toastShown(page, 'warning', 'cannot copy to clipboard, please copy manually')
    await page.waitForURL('**/token')
    await page.getByText(address, { exact: true }).waitFor()
  })

  test('the palette finds tokens, channels and users by their names', async () => {
    const finder = await site.addUser('zebra')
    await site.apiAs(finder, 'POST', '/api/token/', { name: 'zebra laptop' })
    const channel = { type: 8, name: 'zebra upstream', key: 'k', models: 'm', group: 'default' }
    await site.api('POST', '/api/channel/', channel)
    await using visit = await site.visit({ as: rootAccount })
    const { page } = visit
    await visit.open('/about')
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox', { name: 'Search and commands' }).fill('zebra')
    await page.getByRole('option', { name: /^zebra(?! upstream| laptop)/ }).waitFor()
    const upstream = page.getByRole('option', { name: 'zebra upstream' })
    await upstream.locator('[data-mark]').waitFor()
    await upstream.click()
    await page.waitForURL('**/channel?peek=*')
    await page.getByRole('dialog', { name: 'zebra upstream' }).waitFor()
    await using own = await site.visit({ as: finder })
    await own.open('/about')
    await own.page.keyboard.press('Control+k')
    await own.page.getByRole('combobox', { name: 'Search and commands' }).fill('zebra')
    await own.page.getByRole('option', { name: 'zebra laptop' }).waitFor()
    // For a user who is not an administrator, the palette searches only what belongs to that user.
    expect(own.calls().filter((call) => /\/api\/(?:channel|user|redemption)\/search/.test(call))).toEqual([])
  })

  test('the palette lists the page’s own commands first and appearance last, and also finds entries by only some of their letters', async () => {
    await using visit = await site.visit({ as: rootAccount })
    const { page } = visit
    await visit.open('/channel')
    await page.keyboard.press('Control+k')
    const box = page.getByRole('combobox', { name: 'Search and commands' })
    await eventually(() => page.getByRole('option').first().textContent()).toStartWith('Test all channels')
    await eventually(() => page.getByRole('option').last().textContent()).toStartWith('Language')
    await box.fill('nwtok')
    await eventually(() => page.getByRole('option').first().textContent()).toStartWith('New token')
    await box.fill('>new')
    await page.getByRole('option', { name: 'New user' }).waitFor()
    await box.fill('>users')
    await eventually(() => page.getByRole('option', { name: /^Users/ }).count()).toBe(0)
  })

  test('a whole key that is pasted into the palette finds its token; no URL contains the key', async () => {
    const owner = await site.addUser('keyholder')
    const { id, key } = await site.apiAs<{ id: number; key: string }>(owner, 'POST', '/api/token/', {
      name: 'lost one',
    })
    const find = async (visit: Visit) => {
      await visit.open('/about')
      await visit.page.keyboard.press('Control+k')
      await visit.page.getByRole('combobox', { name: 'Search and commands' }).fill(`sk-${key}`)
      const found = visit.page.getByRole('option', { name: 'lost one' })
      await found.waitFor()
      expect(visit.calls().filter((call) => call.includes(key) || call.includes('/search'))).toEqual([])
      return found
    }
    await using own = await site.visit({ as: owner })
    await (await find(own)).click()
    await own.page.waitForURL(`**/token?peek=${id}`)
    await own.page.getByRole('dialog', { name: 'lost one' }).waitFor()
    // For an administrator, the result is a link to the owner of the token.
    await using other = await site.visit({ as: rootAccount })
    const found = await find(other)
    await found.getByText('owned by keyholder').waitFor()
    await found.click()
    await other.page.getByRole('dialog', { name: 'keyholder' }).waitFor()
    await using stranger = await site.visit({ as: await site.addUser('stranger') })
    await stranger.open('/about')
    await stranger.page.keyboard.press('Control+k')
    await stranger.page.getByRole('combobox', { name: 'Search and commands' }).fill(`sk-${key}`)
    await stranger.page.getByText('No results found.').waitFor()
  })

  test('in a list, j and k move between rows, x selects, e edits, and / searches', async () => {
    const user = await site.addUser('keys')
    for (const name of ['one', 'two']) await site.apiAs(user, 'POST', '/api/token/', { name })
    await using visit = await site.visit({ as: user })
    const { page } = visit
    await visit.open('/token')
    await page.getByRole('rowheader', { name: 'two' }).waitFor()
    await page.locator('h1').focus()
    await page.keyboard.press('j')
    await page.keyboard.press('j')
    await page.keyboard.press('x')
    await eventually(() => page.getByLabel('Select one').isChecked()).toBe(true)
    await page.keyboard.press('/')
    await page.keyboard.type('two')
    await page.waitForURL('**/token?q=two')
    await page.keyboard.press('Escape')
    await page.waitForURL('**/token')
    await page.locator('h1').focus()
    await page.keyboard.press('k')
    await page.keyboard.press('e')
    await page.getByRole('heading', { name: 'edit token' }).waitFor()
  })
})

describe('no layout shifts', () => {
  test('while the login page and the lists load (layout shift at most 0.02)', async () => {
    const user = await site.addUser('still')
    for (let index = 0; index < 12; index++) await site.apiAs(user, 'POST', '/api/token/', { name: `token ${index}` })
    for (const width of [1366, 390]) {
      await using visit = await site.visit({ as: user, width })
      const { page } = visit
      await page.route('**/api/**', async (route) => {
        await new Promise((done) => setTimeout(done, 300))
        await route.continue()
      })
      await visit.open('/token')
      await page.locator('.data-table tbody:not([aria-hidden]) tr').first().waitFor()
      expect(await shiftsOf(page)).toBeLessThanOrEqual(0.02)
      await using nobody = await site.visit({ width })
      await nobody.open('/login')
      await nobody.page.waitForFunction(() => localStorage.getItem('status') !== null)
      expect(await shiftsOf(nobody.page)).toBeLessThanOrEqual(0.02)
    }
  })
})
