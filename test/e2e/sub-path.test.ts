// The console under a path prefix, as behind a proxy that passes the prefix on.
import { expect, test } from 'bun:test'
import { openConsole, rootAccount } from './support/console.ts'
import { eventually } from './support/eventually.ts'
import { frame, openHeld } from './support/held.ts'

const site = openConsole({ BASE_PATH: '/gateway' })

test('works completely under a path prefix: pages, chunks, calls, links', async () => {
  await using visit = await site.visit()
  const { page } = visit
  await visit.open('/gateway/token')
  await eventually(() => new URL(page.url()).pathname).toBe('/gateway/login')
  await page.getByLabel('Username').fill(rootAccount.username)
  await page.getByLabel('Password', { exact: true }).fill(rootAccount.password)
  await page.keyboard.press('Enter')
  await page.waitForURL('**/gateway/token')
  await page.getByText('No tokens yet').waitFor()
  await page.locator('main').getByRole('link', { name: 'New token' }).first().click()
  await page.waitForURL('**/gateway/token/add')
  // Until the form has loaded, the list is still shown, and the label of its search box also matches “Name”.
  await page.getByRole('heading', { name: 'new token' }).waitFor()
  await page.getByLabel('Name').fill('under a path')
  await page.getByRole('button', { name: 'Submit' }).click()
  const dialog = page.getByRole('dialog', { name: 'Your token is ready' })
  await eventually(() => dialog.locator('pre').first().textContent()).toContain(
    `${new URL(page.url()).origin}/gateway/v1/chat/completions`,
  )
  await page.reload()
  await dialog.getByRole('button', { name: 'Done' }).click()
  await page.getByRole('heading', { name: 'my tokens' }).waitFor()
})

test('draws the frame of a page and requests its list once, whatever the case and trailing slash of the URL', async () => {
  for (const path of ['/gateway/token', '/gateway/Token/', '/gateway/token/edit/1']) {
    await using visit = await site.visit({ as: rootAccount })
    const { page } = visit
    const lists: string[] = []
    page.on('request', (request) => {
      if (request.url().includes('/gateway/api/token/?p=')) lists.push(request.url())
    })
    const letGo = await openHeld(page, path)
    await page
      .locator(frame)
      .getByText(path.includes('edit') ? 'edit token' : 'my tokens')
      .waitFor()
    await letGo()
    await page.waitForLoadState('networkidle')
    expect([path, lists.length]).toEqual([path, path.includes('edit') ? 0 : 1])
  }
})
