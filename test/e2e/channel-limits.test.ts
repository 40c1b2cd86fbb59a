import { expect, test } from 'bun:test'
import { openConsole, rootAccount } from './support/console.ts'
import { toastShown } from './support/toasts.ts'

const site = openConsole()

test('limits are set in the form of a channel, and the board shows how much of each limit is used', async () => {
  const [id] = await site.api<number[]>('POST', '/api/channel/', {
    name: 'limited',
    key: 'sk-x',
    models: 'gpt-4o',
    weight: 1,
  })
  await using visit = await site.visit({ as: rootAccount })
  const { page } = visit
  await visit.open(`/channel/edit/${id}`)
  await page.getByRole('button', { name: /^Advanced/ }).click()
  await page.getByRole('button', { name: 'Add limit' }).click()
  await page.getByRole('button', { name: 'Submit' }).click()
  const limit = page.getByRole('group', { name: 'Limit 1' })
  // The empty maximum is reported at its field.
  await limit.locator('[aria-invalid="true"]').waitFor()
  await limit.getByLabel('Maximum').fill('7')
  await page.getByRole('button', { name: 'Add limit' }).click()
  const other = page.getByRole('group', { name: 'Limit 2' })
  await other.getByLabel('What is limited').selectOption('quota')
  await other.getByLabel('Window').selectOption('day')
  await other.getByLabel('Maximum').fill('500000')
  await other.getByLabel('Models').fill('gpt-*')
  await page.getByRole('button', { name: 'Submit' }).click()
  await toastShown(page, 'success', 'channel updated successfully!')
  const { limits } = await site.api<{ limits: object[] }>('GET', `/api/channel/${id}`)
  expect(limits).toMatchObject([
    { owner: 'channel', metric: 'calls', window: 'now', most: 7 },
    { owner: 'channel', metric: 'quota', window: 'day', most: 500_000, models: 'gpt-*', zone: 'UTC' },
  ])

  await visit.open('/channel?view=board')
  const board = page.getByRole('region', { name: 'Limits in use' })
  await board.getByText('0 of 7').waitFor()
  await board.getByText('$0.00 of $1.00').waitFor()
  // A temporary raise of a limit lasts one day by default, and the board shows when it ends.
  await visit.open(`/channel/edit/${id}`)
  await limit.getByLabel('Raise temporarily by').fill('3')
  await limit.getByLabel('Until').waitFor()
  await page.getByRole('button', { name: 'Submit' }).click()
  await toastShown(page, 'success', 'channel updated successfully!')
  await visit.open('/channel?view=board')
  await board.getByText('0 of 10').waitFor()
  await board.getByText(/^Raised by 3 until/).waitFor()
  await visit.open(`/channel/edit/${id}`)
  await limit.getByLabel('Raise temporarily by').fill('')
  await page.getByRole('button', { name: 'Submit' }).click()
  await toastShown(page, 'success', 'channel updated successfully!')
  await visit.open('/channel?view=board')
  await board.getByText('0 of 7').waitFor()
  await board.getByRole('button', { name: 'limited' }).click()
  await page.getByRole('dialog').getByRole('region', { name: 'Limits in use' }).getByText('0 of 7').waitFor()
})

test('a channel is marked on the board while it is draining', async () => {
  const [id] = await site.api<number[]>('POST', '/api/channel/', {
    name: 'drained',
    key: 'sk-x',
    models: 'gpt-4o',
    weight: 1,
  })
  await using visit = await site.visit({ as: rootAccount })
  const { page } = visit
  await visit.open(`/channel/edit/${id}`)
  await page.getByRole('button', { name: /^Advanced/ }).click()
  await page.getByRole('switch', { name: 'Drain' }).click()
  await page.getByRole('button', { name: 'Submit' }).click()
  await toastShown(page, 'success', 'channel updated successfully!')
  await visit.open('/channel?view=board')
  const board = page.getByRole('region', { name: 'Limits in use' })
  await board.getByRole('listitem').filter({ hasText: 'drained' }).getByText('Draining').waitFor()
  await site.api('PUT', '/api/channel/', { id, draining: false })
  await page.reload()
  await board.getByText('drained').waitFor({ state: 'detached' })
})
