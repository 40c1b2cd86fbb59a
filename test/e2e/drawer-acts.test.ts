// The acts of drawers take effect immediately and can be undone, as those of the lists.
import { expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { ok, startFakeUpstream, status } from '../helpers/fake-upstream.ts'
import { openConsole, rootAccount } from './support/console.ts'
import { eventually } from './support/eventually.ts'
import { toastShown } from './support/toasts.ts'

const site = openConsole()
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })
const done = 'operation completed successfully!'

interface Row {
  status: number
  quota: number
}

/** Disables what the open drawer shows and undoes it; the drawer stays open and shows both changes. */
async function disableAndUndo(page: Page, title: string, name: string, status: () => Promise<number>): Promise<void> {
  const drawer = page.getByRole('dialog', { name: title, exact: true })
  await drawer.getByRole('button', { name: 'Disable', exact: true }).click()
  await toastShown(page, 'success', `${done} ${name} is disabled`)
  await eventually(status).toBe(2)
  await drawer.getByRole('button', { name: 'Enable', exact: true }).waitFor()
  await button(page, 'Undo').first().click()
  await toastShown(page, 'success', 'Undone')
  await eventually(status).toBe(1)
  await drawer.getByRole('button', { name: 'Disable', exact: true }).waitFor()
}

test('a channel, a user and a token can be disabled in their drawers, with undo', async () => {
  const person = await site.addUser('friend')
  const fields = { type: 8, name: 'main', key: 'k', models: 'm', base_url: 'http://127.0.0.1:1' }
  const [channel] = await site.api<number[]>('POST', '/api/channel/', fields)
  const token = await site.api<{ id: number }>('POST', '/api/token/', { name: 'mine', unlimited_quota: true })
  await using visit = await site.visit({ as: rootAccount })
  const { page } = visit
  const statusAt = (path: string) => async () => (await site.api<Row>('GET', path)).status
  await visit.open(`/channel?peek=${channel}`)
  await disableAndUndo(page, 'main', 'main', statusAt(`/api/channel/${channel}`))
  await visit.open(`/user?peek=${person.id}`)
  await disableAndUndo(page, 'friend', 'friend', statusAt(`/api/user/${person.id}`))
  await visit.open(`/token?peek=${token.id}`)
  await disableAndUndo(page, 'mine', 'mine', statusAt(`/api/token/${token.id}`))
})

test('in the drawer of a user, added credit and the status of a token can be undone', async () => {
  const person = await site.addUser('customer')
  const added = await site.apiAs<{ id: number }>(person, 'POST', '/api/token/', { name: 'app', unlimited_quota: true })
  const balance = async () => (await site.api<Row>('GET', `/api/user/${person.id}`)).quota
  const before = await balance()
  await using visit = await site.visit({ as: rootAccount })
  const { page } = visit
  await visit.open(`/user?peek=${person.id}`)
  await button(page, '+$5').click()
  await eventually(balance).toBe(before + 2_500_000)
  // F6 moves from the drawer to the newest toast.
  await button(page, 'Undo').waitFor()
  await page.keyboard.press('F6')
  await eventually(() => button(page, 'Undo').evaluate((it) => it === document.activeElement)).toBe(true)
  await page.keyboard.press('Enter')
  await toastShown(page, 'success', 'Undone')
  await eventually(balance).toBe(before)
  await page.getByRole('tab', { name: 'Tokens' }).click()
  await button(page, 'Disable: app').click()
  const status = async () => (await site.apiAs<Row>(person, 'GET', `/api/token/${added.id}`)).status
  await eventually(status).toBe(2)
  await button(page, 'Undo').first().click()
  await eventually(status).toBe(1)
  await button(page, 'Disable: app').waitFor()
})

test('the paused keys of a channel are deleted only after a question', async () => {
  await using upstream = await startFakeUpstream()
  upstream.always(ok({ text: 'fine' }))
  upstream.forKey('sk-wrong', status(401, { message: 'Incorrect API key provided', code: 'invalid_api_key' }))
  const fields = { type: 1, name: 'many keys', key: 'sk-wrong\nsk-right', models: 'gpt-4o', key_mode: 'multi' }
  const [id] = await site.api<number[]>('POST', '/api/channel/', { ...fields, base_url: upstream.url })
  const token = await site.api<{ key: string }>('POST', '/api/token/', { name: 'caller', unlimited_quota: true })
  const chat = (content: string) =>
    fetch(`${site.gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer sk-${token.key}` },
      body: JSON.stringify({ model: 'gpt-4o', messages: [{ role: 'user', content }] }),
    })
  // Requests with other messages are not of one session, which would keep its key.
  for (const content of ['one', 'two', 'three', 'four']) expect((await chat(content)).status).toBe(200)
  const counts = async () => {
    const { key_count, keys_dead } = await site.api<{ key_count: number; keys_dead: number }>(
      'GET',
      `/api/channel/${id}`,
    )
    return [key_count, keys_dead]
  }
  await eventually(counts).toEqual([2, 1])
  await using visit = await site.visit({ as: rootAccount })
  const { page } = visit
  await visit.open(`/channel?peek=${id}`)
  await button(page, 'Delete paused keys').click()
  const question = page.getByRole('alertdialog', { name: 'Delete 1 paused key of many keys?' })
  await question.getByRole('button', { name: 'Cancel' }).click()
  expect(await counts()).toEqual([2, 1])
  await button(page, 'Delete paused keys').click()
  await question.getByRole('button', { name: 'Delete paused keys' }).click()
  await toastShown(page, 'success', '1 key deleted')
  expect(await counts()).toEqual([1, 0])
})
