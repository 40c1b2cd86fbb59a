import { expect, test } from 'bun:test'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { openConsole, rootAccount } from './support/console.ts'
import { toastShown } from './support/toasts.ts'

const site = openConsole()

test('the backup section makes a backup now, shows the last one, and says what failed', async () => {
  await using visit = await site.visit({ as: rootAccount, width: 390 })
  const { page } = visit
  await visit.open('/setting?tab=system&q=backup')
  await page.getByText('No backup has been made yet.').first().waitFor()
  const now = page.getByRole('button', { name: 'Back up now' })
  expect(await now.isDisabled()).toBe(true)

  await site.api('PUT', '/api/option/', { key: 'BackupPassphrase', value: 'a passphrase of a test' })
  await site.api('PUT', '/api/option/', { key: 'BackupStore', value: 'files' })
  await page.reload()
  await now.click()
  await toastShown(page, 'success', 'Backup started')
  const folder = join(site.folder, 'backups')
  await page.getByText(folder).first().waitFor()
  expect(readdirSync(folder)).toHaveLength(1)
  await page.getByText(/^Next backup/).waitFor()

  // A folder that is a file.
  await site.api('PUT', '/api/option/', { key: 'BackupFolder', value: 'tollgate.db' })
  await page.reload()
  await now.click()
  await page.getByText('The last backup failed').waitFor()
  await page.getByText(folder).first().waitFor()
  expect(existsSync(join(site.folder, 'tollgate.db'))).toBe(true)
})

test('a channel that a file manages says so in the list and in its form', async () => {
  const channel = { name: 'by file', type: 'openai', key: 'k', models: ['gpt-4o'], base_url: 'http://127.0.0.1:9' }
  const plan = await site.api('PUT', '/api/config', { version: 1, channels: [channel] })
  expect(plan).toMatchObject({ applied: true })
  await site.api('POST', '/api/channel/', { name: 'by hand', type: 1, key: 'k', models: 'm', group: 'default' })
  await using visit = await site.visit({ as: rootAccount })
  const { page } = visit
  await visit.open('/channel')
  await page.getByRole('row', { name: /by file.*Managed by file/ }).waitFor()
  expect(await page.getByRole('row', { name: /by hand.*Managed by file/ }).count()).toBe(0)
  const channels = await site.api<{ id: number; name: string; managed_by: string }[]>('GET', '/api/channel/')
  const managed = channels.find(({ name }) => name === 'by file')
  expect(managed?.managed_by).toBe('PUT /api/config')
  expect(channels.find(({ name }) => name === 'by hand')?.managed_by ?? '').toBe('')
  await visit.open(`/channel/edit/${managed?.id}`)
  await page.getByText('Managed by PUT /api/config').waitFor()
  await page.getByText('Change the channel in that file.').waitFor()
  await visit.open(`/channel/edit/${channels.find(({ name }) => name === 'by hand')?.id}`)
  await page.locator('[name="name"]').waitFor()
  expect(await page.getByText(/^Managed by/).count()).toBe(0)
})
