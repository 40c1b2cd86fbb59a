import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import type { Browser } from 'playwright-core'
import { type GatewayProcess, Installation } from '../helpers/gateway-process.ts'
import { axeFaults, scrollsSideways } from './support/audit.ts'
import { borrowBrowser, returnBrowser } from './support/browser.ts'
import { eventually } from './support/eventually.ts'

setDefaultTimeout(300_000)

const shown = ['relayImagesEdits', 'relayModelsModel', 'userList', 'tokenUpdate', 'channelTest', 'docsPage']

const installation = new Installation()
let gateway: GatewayProcess
let browser: Browser

beforeAll(async () => {
  gateway = await installation.start()
  browser = await borrowBrowser()
})
afterAll(async () => {
  await returnBrowser()
  await installation[Symbol.asyncDispose]()
})

for (const theme of ['light', 'dark'] as const) {
  test(`everybody can read the API page in the ${theme} theme`, async () => {
    await using context = await browser.newContext({ colorScheme: theme, viewport: { width: 1366, height: 900 } })
    const page = await context.newPage()
    const said: string[] = []
    page.on('console', (message) => said.push(message.text()))
    await page.goto(`${gateway.url}/api/docs`)
    const background = await page.evaluate(() => getComputedStyle(document.body).backgroundColor)
    expect(background).toBe(theme === 'light' ? 'rgb(255, 255, 255)' : 'rgb(17, 21, 28)')
    // Opens one example of each kind. All others are made by the same functions, and checking every table would take
    // minutes.
    await page.evaluate((names) => {
      for (const each of document.querySelectorAll('details')) each.open = names.includes(each.id)
    }, shown)
    expect(await axeFaults(page)).toEqual([])
    for (const width of [1366, 320]) {
      await page.setViewportSize({ width, height: 900 })
      expect([width, await scrollsSideways(page)]).toEqual([width, false])
    }
    expect(said).toEqual([])
  })
}

test('the API page works without JavaScript and with the keyboard, and loads no other resource', async () => {
  await using context = await browser.newContext({ javaScriptEnabled: false })
  const page = await context.newPage()
  const asked: string[] = []
  page.on('request', (request) => asked.push(new URL(request.url()).pathname))
  await page.goto(`${gateway.url}/api/docs`)
  await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  await eventually(() => new URL(page.url()).hash).toBe('#calls')
  const call = page.locator('details#tokenCreate')
  const example = call.getByText('Authorization: Bearer $ACCESS_TOKEN')
  await eventually(() => example.isVisible()).toBe(false)
  await call.locator('summary').focus()
  await page.keyboard.press('Enter')
  await eventually(() => example.isVisible()).toBe(true)
  expect(asked.filter((path) => path !== '/favicon.ico')).toEqual(['/api/docs'])
})
