// Sections of the specification (see coverage.md): 7 (pages of other calls).

import { expect, test } from 'bun:test'
import { createHmac } from 'node:crypto'
import { startService } from '../helpers/outside-services.ts'
import { onlySpecifiedCalls } from './support/classic.ts'
import { openConsole, rootAccount } from './support/console.ts'
import { openDatabase } from './support/database.ts'
import { eventually } from './support/eventually.ts'
import { toastShown } from './support/toasts.ts'

const site = openConsole()

test('spec 7: an administrator creates a rule from a template, adds a destination, tests it and reads the message', async () => {
  await using hook = await startService((_, response) => response.end('ok'))
  await using visit = await site.visit({ as: rootAccount })
  const { page } = visit
  const form = page.getByRole('dialog')
  await visit.open('/alert?tab=destinations')
  await page.getByRole('button', { name: 'New destination' }).click()
  await form.getByLabel('Service').selectOption('webhook')
  await form.getByRole('button', { name: 'Save' }).click()
  await eventually(() => form.getByText('This field is required.').count()).toBe(2)
  await form.getByLabel('Name').fill('On-call')
  await form.getByLabel('Webhook URL').fill(`${hook.url}/in`)
  await form.getByRole('button', { name: 'Save' }).click()
  await toastShown(page, 'success', 'Destination saved')
  const secret = (await page.locator('main code').textContent()) ?? ''
  await page.getByRole('button', { name: 'Send test: On-call' }).click()
  await page.getByText(/Delivered in \d+ ms/).waitFor()
  const { headers = {}, body = '' } = hook.requests[0] ?? {}
  const signature = createHmac('sha256', secret).update(`${headers['tollgate-timestamp']}.${body}`).digest('hex')
  expect(headers['tollgate-signature']).toBe(`v1=${signature}`)

  await page.getByRole('main').getByRole('link', { name: 'Rules' }).click()
  await page.getByRole('button', { name: 'Use this rule: Channel disabled automatically' }).click()
  await form.getByRole('checkbox', { name: 'On-call' }).check()
  await form.getByLabel('Title').fill('{target} is {who}')
  await form.getByRole('button', { name: 'Save' }).click()
  await form.getByText('Use only the placeholders that are listed.').waitFor()
  await form.getByLabel('Title').fill('{target} is off')
  await form.getByRole('region', { name: 'Preview' }).getByText('main is off').waitFor()
  await form.getByRole('button', { name: 'Save' }).click()
  await toastShown(page, 'success', 'Rule saved')
  await page.getByText('The gateway disables a channel').waitFor()

  const channel = { type: 1, name: 'broken', key: 'k', models: 'gpt-4o', group: 'default' }
  await site.api('POST', '/api/channel/', channel)
  using database = openDatabase(site)
  database.run("update channels set status = 3 where name = 'broken'")
  // Makes the rules due again, although they were evaluated less than a minute ago.
  database.run("delete from job_runs where name = 'alerts'")
  await eventually(() => hook.requests.length).toBe(2)
  expect(JSON.parse(hook.requests[1]?.body ?? '')).toMatchObject({ event: 'firing', title: 'broken is off' })
  await visit.open('/alert')
  await page.getByText('Firing', { exact: true }).waitFor()
  await page.getByText(/^broken · started/).waitFor()
  await page.getByRole('main').getByRole('link', { name: 'History' }).click()
  await page.getByText('On-call: sent').waitFor()
})

test('a user sees only their own alerts, switches a rule off and on again, and deletes it', async () => {
  const ada = await site.addUser('alert-ada')
  await using visit = await site.visit({ as: ada })
  const { page } = visit
  await visit.open('/alert')
  expect(await page.getByRole('radio', { name: 'Installation' }).count()).toBe(0)
  await page.getByRole('button', { name: 'Use this rule: Low balance' }).click()
  const form = page.getByRole('dialog')
  await form.getByText('There are no destinations yet.').waitFor()
  await form.getByLabel('From').fill('22:00')
  await form.getByRole('button', { name: 'Save' }).click()
  await form.getByText('Enter both times, or none.').waitFor()
  await form.getByLabel('To', { exact: true }).fill('07:00')
  await form.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Your balance is below $5.00').waitFor()
  await page.getByRole('switch', { name: 'Rule Low balance is on' }).click()
  await page.getByText('Off', { exact: true }).waitFor()
  await page.getByRole('button', { name: 'Undo' }).click()
  await page.getByText('Off', { exact: true }).waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Edit: Low balance' }).click()
  await eventually(() => form.getByLabel('From').inputValue()).toBe('22:00')
  await form.getByLabel('Name').fill('Almost broke')
  await form.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('heading', { name: 'Almost broke' }).waitFor()
  await page.getByRole('button', { name: 'Delete: Almost broke' }).click()
  await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click()
  await page.getByText('No alert rules yet').waitFor()

  await visit.open('/alert?tab=destinations')
  await page.getByRole('button', { name: 'New destination' }).click()
  await form.getByText('Emails go to the address of your account.').waitFor()
  await form.getByLabel('Service').selectOption('ntfy')
  await form.getByLabel('Name').fill('Phone')
  await form.getByLabel('Topic').fill('secret-topic')
  await form.getByLabel('Server URL').fill('http://127.0.0.1:1')
  await form.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('button', { name: 'Send test: Phone' }).click()
  await page.getByText('Not delivered: The URL leads to an address that is not public.').waitFor()
  expect(await page.getByText('secret-topic').count()).toBe(0)
})

test('a server without alerts has no menu entry for them', async () => {
  await using visit = await site.visit({ as: rootAccount })
  const { page } = visit
  await onlySpecifiedCalls(page)
  await visit.open('/alert')
  await page.getByText('This server has no alerts').waitFor()
  expect(await page.getByRole('navigation').getByRole('link', { name: 'Alerts' }).count()).toBe(0)
})
