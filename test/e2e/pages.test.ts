// Sections of the specification (see coverage.md): 2 (about, chat, not found), 6 (roles).
import { expect, test } from 'bun:test'
import { openConsole, rootAccount } from './support/console.ts'
import { eventually } from './support/eventually.ts'

const site = openConsole()
const setOption = (key: string, value: string) => site.api('PUT', '/api/option/', { key, value })

test('spec 2: the about page shows the configured text, sanitised, or a description of the product', async () => {
  await using visit = await site.visit()
  const { page } = visit
  await visit.open('/about')
  await page.getByText('one URL, one key, exact billing').waitFor()
  await setOption('About', '# Our gateway\n<img src=x onerror="window.ran=true"><b>bold</b>')
  await visit.open('/about')
  await page.getByRole('heading', { name: 'Our gateway' }).waitFor()
  expect(await page.evaluate(() => 'ran' in window)).toBe(false)
  await setOption('About', '')
})

test('spec 2: the chat page shows the configured link in a frame, or a message if there is no link', async () => {
  await using visit = await site.visit({ as: rootAccount, expectedErrors: /frame-ancestors/ })
  const { page } = visit
  await visit.open('/chat')
  // The gateway's own pages do not allow framing, and the browser reports this.
  await page.getByText('No chat link is set').waitFor()
  await eventually(() => page.getByRole('navigation').getByRole('link', { name: 'Chat', exact: true }).count()).toBe(0)
  await setOption('ChatLink', `${site.gateway.url}/api/docs`)
  await visit.open('/chat')
  await page.getByRole('navigation').getByRole('link', { name: 'Chat', exact: true }).first().waitFor()
  await eventually(() => page.getByTitle('Chat app').getAttribute('src')).toContain('/api/docs')
  await setOption('ChatLink', '')
})

test('spec 2: any other path shows the not-found page', async () => {
  await using visit = await site.visit()
  await visit.open('/no/such/page')
  await visit.page.getByText('the requested page was not found').waitFor()
  await visit.page.getByText('404').first().waitFor()
})
