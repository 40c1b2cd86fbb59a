import { expect, test } from 'bun:test'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { openConsole, rootAccount } from './support/console.ts'
import { openDatabase } from './support/database.ts'
import { toastShown } from './support/toasts.ts'

const site = openConsole()

test('the backup section starts a backup, shows the last backup, and shows the error if it failed', async () => {
  await using visit = await site.visit({ as: rootAccount, width: 390 })
  const { page } = visit
  await visit.open('/setting?tab=system')
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

  // The backup folder is set to the path of a file, so the backup fails.
  await site.api('PUT', '/api/option/', { key: 'BackupFolder', value: 'tollgate.db' })
  await page.reload()
  await now.click()
  await page.getByText('The last backup failed').waitFor()
  await page.getByText(folder).first().waitFor()
  expect(existsSync(join(site.folder, 'tollgate.db'))).toBe(true)
})

test('the log copy is set up, tested and watched in its section, and failures are shown in the language of the page', async () => {
  await using visit = await site.visit({ as: rootAccount, width: 390, language: 'ja' })
  const { page } = visit
  await visit.open('/setting?tab=system#log-copy')
  await page.getByText('ログはコピーされていません。').waitFor()
  const test = page.getByRole('button', { name: 'テスト', exact: true })
  expect(await test.isDisabled()).toBe(true)
  await site.api('PUT', '/api/option/', { key: 'LogCopyFolder', value: 'tollgate.db' })
  await page.reload()
  await page.getByLabel('ログのコピー先').first().selectOption('files')
  await page.getByText('テストするには、変更を保存してください。').waitFor()
  await page.getByRole('button', { name: '保存', exact: true }).click()
  await page.getByText(`コピー先：file://${join(site.folder, 'tollgate.db')}`).waitFor()
  await test.click()
  await page.getByText('このコピー先にはログを保存できません').waitFor()
  await page.getByText('フォルダーに書き込めません（EEXIST）。').waitFor()

  // Marks the log copy as the job of another node, so that this node does not change the state that the test writes.
  await using db = openDatabase(site)
  const name = `file://${join(site.folder, 'copied')}`
  db.run(
    `insert into log_sinks (name, holder, held_until, sent_to, sent_rows, sent_at, lost_rows, lost_at, error, failed_at)
      values (?, 'elsewhere', 99999999999, 0, 1234, 1790000000, 2, 1790000001, 'The object store responded with status 403 (AccessDenied).', 1790000002)`,
    [name],
  )
  await site.api('PUT', '/api/option/', { key: 'LogCopyFolder', value: 'copied' })
  await page.reload()
  await page.getByText('1,234', { exact: true }).waitFor()
  await page.getByText('オブジェクトストレージがステータス 403 (AccessDenied) を返しました。').waitFor()
  await page.getByText('コピーの前に 2 行が削除されました', { exact: false }).waitFor()
  await test.click()
  await toastShown(page, 'success', 'このコピー先にログを保存できます')
  await site.api('PUT', '/api/option/', { key: 'LogCopyPlace', value: 'off' })
})

test('a channel that a file manages is marked as such in the list and in its form', async () => {
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
