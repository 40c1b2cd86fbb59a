// Recordings: root starts one, sees the caller's and the upstream's side of a request, and ends it. The users whose
// requests are recorded are informed. In titles, "spec 7" is section 7 of the specification (see coverage.md).
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type FakeUpstream, okStream, startFakeUpstream } from '../helpers/fake-upstream.ts'
import { type Account, openConsole, rootAccount } from './support/console.ts'
import { eventually } from './support/eventually.ts'
import { toastShown } from './support/toasts.ts'

const site = openConsole()
let upstream: FakeUpstream
let caller: Account
let admin: Account
let token: { id: number; key: string }

beforeAll(async () => {
  upstream = await startFakeUpstream()
  await site.api('POST', '/api/channel/', {
    name: 'main channel',
    type: 8,
    key: 'sk-upstream-0123456789abcdef',
    models: 'gpt-4o',
    group: 'default',
    base_url: upstream.url,
  })
  caller = await site.addUser('caller', { quota: 10_000_000 })
  admin = await site.addUser('another', { role: 10 })
  token = await site.apiAs(caller, 'POST', '/api/token/', { name: 'laptop', unlimited_quota: true, expired_time: -1 })
})
afterAll(() => upstream[Symbol.asyncDispose]())

async function ask(words: string): Promise<string> {
  upstream.next(okStream({ text: `An answer to ${words}` }))
  const response = await fetch(`${site.gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer sk-${token.key}` },
    body: JSON.stringify({ model: 'gpt-4o', stream: true, messages: [{ role: 'user', content: words }] }),
  })
  await response.text()
  return response.headers.get('x-oneapi-request-id') ?? ''
}

test('spec 7: a recorded request is shown as the caller and as the upstream saw it, and users are informed while their requests are recorded', async () => {
  await site.apiAs(rootAccount, 'POST', '/api/token/', { name: 'own', unlimited_quota: true, expired_time: -1 })
  await using visit = await site.visit({ as: rootAccount })
  const { page } = visit
  const before = await ask('the question before')
  await eventually(async () => {
    const rows = await site.api<unknown[]>('GET', `/api/log/search?keyword=${before}`)
    return rows.length
  }).toBe(1)
  await visit.open(`/log/${before}`)
  await page.getByRole('button', { name: 'Show content' }).click()
  await page.getByText('This request was not recorded.').waitFor()
  await page.getByRole('link', { name: 'Record this token' }).click()
  await eventually(() => page.getByRole('combobox', { name: 'Token' }).inputValue()).toBe(
    `laptop · caller (#${token.id})`,
  )
  // Chooses a channel by a part of its name, and then the token by its id.
  const kind = page.getByRole('combobox', { name: 'Record requests of' })
  await kind.selectOption('Channel')
  await page.getByRole('combobox', { name: 'Channel' }).fill('in chan')
  await page.getByRole('option', { name: 'main channel (#1)' }).click()
  await kind.selectOption('Token')
  await eventually(() => page.getByRole('combobox', { name: 'Token' }).inputValue()).toBe('')
  await page.getByRole('combobox', { name: 'Token' }).fill(String(token.id))
  await page.getByRole('option', { name: `laptop · caller (#${token.id})` }).click()
  await page.getByRole('textbox', { name: 'Other texts to remove' }).fill('Zanzibar')
  await page.getByRole('button', { name: 'Start recording' }).click()
  await toastShown(page, 'success', 'Recording started')
  await page.getByText(`Token ${token.id}`).waitFor()

  await using other = await site.visit({ as: caller })
  await other.open('/token')
  await other.page.getByText(/Requests with one of your tokens are being recorded until/).waitFor()
  const id = await ask('the question about Zanzibar')
  await eventually(async () => (await site.api('GET', `/api/capture/${id}`)) !== null).toBe(true)

  await visit.open(`/log/${id}`)
  await page.getByRole('button', { name: 'Show content' }).click()
  const content = page.getByRole('region', { name: 'Content', exact: true })
  await content.getByText('the question about [redacted]', { exact: true }).waitFor()
  await content.getByText('An answer to the question about [redacted]').waitFor()
  await content.getByText('As sent to main channel').click()
  await content.getByText('Raw').click()
  await content.getByText('include_usage').waitFor()
  expect(await content.textContent()).not.toContain('Zanzibar')
  await page.getByRole('link', { name: 'Open conversation in playground' }).click()
  await page.waitForURL('**/playground?model=gpt-4o')
  await page.getByText('An answer to the question about [redacted]').waitFor()
  expect(
    await page.evaluate(() => JSON.stringify({ ...localStorage, ...sessionStorage, state: history.state })),
  ).not.toContain('the question about')

  await visit.open('/recording')
  await page.getByRole('button', { name: 'End recording of laptop' }).click()
  await toastShown(page, 'success', 'Recording ended')
  await other.page.reload()
  await other.page
    .getByRole('button', { name: 'New token' })
    .or(other.page.getByRole('link', { name: 'New token' }))
    .first()
    .waitFor()
  await eventually(() => other.page.getByText(/are being recorded until/).count()).toBe(0)
  await visit.open('/setting?tab=audit')
  await page.getByText('Recorded request viewed').first().waitFor()
})

test('an admin sees neither the recordings nor the content of a request', async () => {
  await using visit = await site.visit({ as: admin })
  const { page } = visit
  await visit.open('/recording')
  await page.getByText('Only the super admin can record requests').waitFor()
  const id = await ask('another question')
  await eventually(async () => (await site.api<unknown[]>('GET', `/api/log/search?keyword=${id}`)).length).toBe(1)
  await visit.open(`/log/${id}`)
  await page.getByRole('region', { name: 'Details' }).waitFor()
  expect(await page.getByRole('button', { name: 'Show content' }).count()).toBe(0)
  expect(visit.calls().filter((call) => call.includes('/api/capture/rule'))).toEqual([])
})
