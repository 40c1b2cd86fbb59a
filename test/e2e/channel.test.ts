// Sections of the specification (see coverage.md): 2 (channel list and form), 4 (channel status, latency colours), 5
// (channel form), 8 (messages), 9.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { type FakeUpstream, ok, okModels, startFakeUpstream, status } from '../helpers/fake-upstream.ts'
import { control, staysShut } from './support/boxes.ts'
import { openConsole, rootAccount } from './support/console.ts'
import { eventually } from './support/eventually.ts'
import { hold, openHeld } from './support/held.ts'
import { choose, rowOf } from './support/lists.ts'
import { toastOf, toastShown } from './support/toasts.ts'

const site = openConsole()
let upstream: FakeUpstream

interface Channel {
  id: number
  name: string
  type: number
  status: number
  models: string
  group: string
  base_url: string
  other: string
  model_mapping: string
  priority: number
  key_count: number
}

const addChannel = (fields: object) =>
  site.api<number[]>('POST', '/api/channel/', {
    type: 8,
    key: 'sk-x',
    models: 'gpt-4o',
    group: 'default',
    base_url: upstream.url,
    ...fields,
  })
const channelsNamed = async (name: string) =>
  (await site.api<Channel[]>('GET', '/api/channel/?p=0&size=100')).filter((channel) => channel.name === name)

beforeAll(async () => {
  upstream = await startFakeUpstream()
  upstream.always(ok())
})
afterAll(() => upstream[Symbol.asyncDispose]())

const submit = (page: Page) => page.getByRole('button', { name: 'Submit' }).click()

describe('the list of channels', () => {
  test('spec 4, 8: a channel is tested, disabled with undo, and deleted', async () => {
    await addChannel({ name: 'tested' })
    await using visit = await site.visit({ as: rootAccount })
    const { page } = visit
    await visit.open('/channel')
    await rowOf(page, 'tested').getByText('untested').waitFor()
    await page.getByRole('button', { name: 'Test: tested' }).click()
    expect(await toastShown(page, 'info', 'channel tested')).toMatch(
      /channel tested tested successfully, took \d+\.\d\d seconds\./,
    )
    await rowOf(page, 'tested').locator('[data-color="green"]').filter({ hasText: ' s' }).waitFor()
    await choose(page, 'tested', 'Disable')
    await rowOf(page, 'tested').getByText('disabled').waitFor()
    await page.getByRole('button', { name: 'Undo' }).click()
    await rowOf(page, 'tested').getByText('enabled').waitFor()
    await choose(page, 'tested', 'Delete')
    await page.getByRole('alertdialog').getByRole('button', { name: 'Delete', exact: true }).click()
    await rowOf(page, 'tested').waitFor({ state: 'detached' })
  })

  test('filters by type, status and group combine with search and sorting, and are kept in the URL', async () => {
    const [off] = await addChannel({ name: 'narrow off', group: 'inner,default' })
    await site.api('PUT', '/api/channel/', { id: off, status: 2 })
    await addChannel({ name: 'narrow on', group: 'inner', type: 1 })
    await addChannel({ name: 'narrow other' })
    await site.api('PUT', '/api/option/', { key: 'GroupRatio', value: '{"default":1,"inner":1}' })
    await using visit = await site.visit({ as: rootAccount })
    const { page } = visit
    const names = () => page.getByRole('rowheader').allTextContents()
    await visit.open('/channel?page=2&sort=name')
    const group = page.getByRole('combobox', { name: 'Group' })
    await group.focus()
    await eventually(() => group.getByRole('option').allTextContents()).toEqual(['All groups', 'default', 'inner'])
    await group.selectOption('inner')
    await page.waitForURL('**/channel?sort=name&group=inner')
    await eventually(names).toEqual(['narrow off', 'narrow on'])
    await page.getByRole('combobox', { name: 'Status' }).selectOption('Enabled')
    await page.waitForURL('**/channel?sort=name&group=inner&status=1')
    await eventually(names).toEqual(['narrow on'])
    await page.getByRole('combobox', { name: 'Type' }).selectOption('OpenAI')
    await eventually(() => new URL(page.url()).searchParams.get('type')).toBe('1')
    await eventually(names).toEqual(['narrow on'])
    await page.getByLabel('Search by ID or name').fill('narrow of')
    await page.getByText('No results match your search and filters.').waitFor()
    await page.goBack()
    await eventually(names).toEqual(['narrow on'])
    await page.getByLabel('Search by ID or name').fill('narrow of')
    await page.getByText('No results found.').waitFor()
    await page.getByRole('button', { name: 'Clear search and filters' }).click()
    await page.waitForURL('**/channel?sort=name')
    await eventually(async () => (await names()).length).toBeGreaterThan(2)
    await visit.open('/channel?status=2&group=inner&view=models')
    await page.getByRole('radio', { name: 'List' }).check({ force: true })
    await eventually(names).toEqual(['narrow off'])
  })

  test('an empty filter has no effect', async () => {
    await addChannel({ name: 'unfiltered' })
    await using visit = await site.visit({ as: rootAccount })
    await visit.open('/channel?status=9&type=x')
    await rowOf(visit.page, 'unfiltered').waitFor()
    await eventually(() => visit.page.getByRole('combobox', { name: 'Status' }).inputValue()).toBe('')
    expect(visit.calls().filter((call) => call.startsWith('GET /api/channel/?'))).toEqual(['GET /api/channel/?p=0'])
  })

  test('spec 9: balances are shown in the format used for the channel type', async () => {
    await addChannel({ name: 'azure one', type: 3 })
    await addChannel({ name: 'router', type: 20 })
    await addChannel({ name: 'seeker', type: 36 })
    await addChannel({ name: 'silent', type: 14 })
    await addChannel({ name: 'custom', type: 8 })
    await using visit = await site.visit({ as: rootAccount })
    const { page } = visit
    await visit.open('/channel')
    await rowOf(page, 'azure one').getByText('Azure', { exact: true }).waitFor()
    await rowOf(page, 'router').getByText('$0.00').waitFor()
    await rowOf(page, 'seeker').getByText('¥0.00').waitFor()
    await rowOf(page, 'silent').getByText('Not supported').waitFor()
    await rowOf(page, 'custom').getByText('$0.00').waitFor()
  })

  test('spec 2: all channels are tested with progress, and the board shows them', async () => {
    await addChannel({ name: 'boarded' })
    await using visit = await site.visit({ as: rootAccount })
    const { page } = visit
    await visit.open('/channel')
    await page.getByRole('button', { name: 'Test all' }).click()
    await toastShown(page, 'info', 'started testing all enabled channels')
    await page.getByText('Health').click()
    await page.getByRole('region', { name: 'Health' }).getByRole('button', { name: 'boarded', exact: true }).click()
    await page.getByRole('dialog').getByRole('img', { name: '1 of the last 1 tests' }).waitFor()
  })

  test('the palette offers to test all channels while the channel page is open', async () => {
    await addChannel({ name: 'by command' })
    await using visit = await site.visit({ as: rootAccount })
    const { page } = visit
    const options = page.getByRole('option', { name: 'Test all channels' })
    const find = async () => {
      await page.keyboard.press('Control+k')
      await page.getByRole('combobox', { name: 'Search and commands' }).fill('test all')
    }
    await visit.open('/about')
    await find()
    // The search finds only the option of a similar name, because the channel page is not open.
    await eventually(() => options.allTextContents()).toEqual(['Test all channels every'])
    await visit.open('/channel')
    await page.getByRole('button', { name: 'Test all', exact: true }).waitFor()
    await find()
    await page.getByRole('option', { name: 'Test all channels', exact: true }).click()
    await toastShown(page, 'info', 'started testing all enabled channels')
    await rowOf(page, 'by command')
      .getByText(/\d\.\d\d s/)
      .waitFor()
  })

  test('the models map lists models that only one channel serves', async () => {
    await addChannel({ name: 'lonely', models: 'only-here', model_mapping: '{"only-here":"gpt-4o"}' })
    await using visit = await site.visit({ as: rootAccount })
    const { page } = visit
    await visit.open('/channel?view=models')
    const row = page.getByRole('row').filter({ has: page.getByRole('rowheader', { name: 'only-here' }) })
    await row.getByText('1 channel only').waitFor()
    await row.getByText('lonely → gpt-4o').waitFor()
    // On a phone, each model is a card, and nothing scrolls sideways.
    await page.setViewportSize({ width: 390, height: 844 })
    const region = page.getByRole('region', { name: /Models/ }).last()
    await eventually(() => region.evaluate((it) => it.scrollWidth - it.clientWidth)).toBe(0)
  })

  test('spec 8: several channels can be edited at once', async () => {
    await addChannel({ name: 'bulk one' })
    await addChannel({ name: 'bulk two' })
    await using visit = await site.visit({ as: rootAccount })
    const { page } = visit
    await visit.open('/channel')
    await page.getByLabel('Select bulk one').check()
    await page.getByLabel('Select bulk two').check()
    await page.getByRole('button', { name: 'Edit', exact: true }).click()
    await page.getByRole('dialog').getByLabel('Priority').fill('7')
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
    await toastShown(page, 'success', 'operation completed successfully!')
    await eventually(async () => (await channelsNamed('bulk one'))[0]).toMatchObject({ priority: 7, models: 'gpt-4o' })
    await eventually(async () => (await channelsNamed('bulk two'))[0]).toMatchObject({ priority: 7 })
  })
})

/** Adds the basic models. Their entry is in the menu with the other ways to add models. */
async function addBasic(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'More ways to add models' }).click()
  await page.getByRole('menuitem', { name: 'Add basic' }).click()
}

/**
 * Waits for the default name, which comes with the list of types. If the box were cleared earlier, it would be filled
 * in again.
 */
async function clearDefaultName(page: Page) {
  const name = page.getByLabel('Name', { exact: true })
  await eventually(() => name.inputValue()).toBe('OpenAI')
  await name.fill('')
  return name
}

const openAdvanced = (page: Page) => page.getByRole('button', { name: /^Advanced/ }).click()

describe('the form of a channel', () => {
  test('spec 5, 8: requires name and key, a model and a valid mapping, in this order', async () => {
    await using visit = await site.visit({ as: rootAccount })
    const { page } = visit
    await visit.open('/channel/add')
    await clearDefaultName(page)
    await submit(page)
    await toastShown(page, 'info', 'please fill in channel name and channel key!')
    await page.getByText('Enter a name.').waitFor()
    await page.getByText('Enter a key.').waitFor()
    await page.getByLabel('Name', { exact: true }).fill('made here')
    await page.getByLabel('Key', { exact: true }).fill('sk-secret')
    await submit(page)
    await toastShown(page, 'info', 'please select at least one model!')
    await addBasic(page)
    await openAdvanced(page)
    await page.getByText('JSON', { exact: true }).click()
    await page.getByLabel('Model mapping').last().fill('{"a":')
    await openAdvanced(page)
    await submit(page)
    await toastShown(page, 'info', 'model mapping must be valid JSON format!')
    // The advanced settings, which were hidden, open, and the field with the error gets the focus.
    const mapping = page.getByLabel('Model mapping').last()
    await eventually(() => mapping.evaluate((it) => it === document.activeElement)).toBe(true)
    await page.getByLabel('Model mapping').last().fill('')
    await page.getByLabel('Base URL').fill('https://proxy.example/')
    await submit(page)
    await toastShown(page, 'success', 'channel created successfully!')
    const [made] = await channelsNamed('made here')
    expect(made).toMatchObject({ type: 1, base_url: 'https://proxy.example', model_mapping: '{}', group: 'default' })
    expect(made?.models.split(',').every((model) => /^(gpt-3|text-)/.test(model))).toBe(true)
  })

  test('spec 9: the basic models are those whose names begin with gpt-3 or text-', async () => {
    await using visit = await site.visit({ as: rootAccount })
    const { page } = visit
    await visit.open('/channel/add')
    const all = await page.evaluate(async () => (await fetch('/api/channel/models')).json())
    const basic = (all.data as { id: string }[]).map(({ id }) => id).filter((id) => /^(?:gpt-3|text-)/.test(id))
    expect(basic.length).toBeGreaterThan(3)
    await page.getByLabel('Name', { exact: true }).fill('basic ones')
    await page.getByLabel('Key', { exact: true }).fill('k')
    await addBasic(page)
    await submit(page)
    await toastShown(page, 'success', 'channel created successfully!')
    const [made] = await channelsNamed('basic ones')
    expect(made?.models.split(',').sort()).toEqual([...new Set(basic)].sort())
  })

  test('all missing fields are marked at once, and the messages disappear at the next attempt', async () => {
    await using visit = await site.visit({ as: rootAccount })
    const { page } = visit
    await visit.open('/channel/add')
    const marked = (label: string) => page.getByLabel(label, { exact: true }).getAttribute('aria-invalid')
    const labels = ['Name', 'Key', 'Models']
    const all = () => Promise.all(labels.map(marked))
    const name = await clearDefaultName(page)
    await submit(page)
    await eventually(all).toEqual(['true', 'true', 'true'])
    await eventually(() => name.evaluate((it) => it === document.activeElement)).toBe(true)
    await page.getByText('Select at least one model.').waitFor()
    await name.fill('all at once')
    await addBasic(page)
    await submit(page)
    // While the pointer is on a toast, it disappears only if the page closes it.
    await toastOf(page, 'info', 'please fill in channel name and channel key!').last().hover()
    await page.getByLabel('Key', { exact: true }).fill('k')
    await eventually(all).toEqual([null, null, null])
    await name.press('Control+Enter')
    await toastShown(page, 'success', 'channel created successfully!')
    await eventually(() => toastOf(page, 'info', 'please fill in').count()).toBe(0)
  })

  test('after Submit or Save and test, a base URL that the server refuses is marked, with the console’s message instead of the server’s', async () => {
    await using visit = await site.visit({ as: rootAccount })
    const { page } = visit
    await visit.open('/channel/add')
    await page.getByLabel('Name', { exact: true }).fill('no address')
    await page.getByLabel('Key', { exact: true }).fill('k')
    await addBasic(page)
    const address = page.getByLabel('Base URL')
    const says = 'Base URL must be a URL that begins with https:// or http://.'
    for (const send of ['Submit', 'Save and test']) {
      await address.fill(send)
      await page.getByRole('button', { name: send, exact: true }).click()
      await toastShown(page, 'error', `Error: ${says}`)
      await page.getByText(says, { exact: true }).waitFor()
      await eventually(() => address.getAttribute('aria-invalid')).toBe('true')
    }
    await eventually(() => page.getByText('base_url').count()).toBe(0)
    await eventually(() => channelsNamed('no address')).toEqual([])
  })

  test('spec 2: with one key per line, each line creates a channel; empty and repeated lines are reported', async () => {
    await using visit = await site.visit({ as: rootAccount })
    const { page } = visit
    await visit.open('/channel/add')
    await page.getByLabel('Name', { exact: true }).fill('many')
    await page.getByLabel('Key mode').selectOption('One channel per key')
    await page.getByLabel('Key', { exact: true }).fill('sk-1\n\nsk-2\nsk-2\nsk-3')
    await page.getByText('3 keys · 2 empty or duplicate lines ignored').waitFor()
    await addBasic(page)
    await submit(page)
    await toastShown(page, 'success', 'channel created successfully!')
    await eventually(() => channelsNamed('many')).toHaveLength(3)
  })

  test('spec 5: Azure gets its default API version and its note', async () => {
    await using visit = await site.visit({ as: rootAccount })
    const { page } = visit
    await visit.open('/channel/add')
    await page.getByLabel('Type', { exact: true }).fill('azure')
    await page.getByRole('option', { name: /Azure/ }).first().click()
    await page.getByText('The deployment name must match the model name.').waitFor()
    await page.getByLabel('Endpoint').fill('https://mine.openai.azure.com')
    await page.getByLabel('Name', { exact: true }).fill('azure made')
    await page.getByLabel('Key', { exact: true }).fill('k')
    await addBasic(page)
    await submit(page)
    await toastShown(page, 'success', 'channel created successfully!')
    await eventually(async () => (await channelsNamed('azure made'))[0]).toMatchObject({
      type: 3,
      other: '2023-06-01-preview',
    })
  })

  test('spec 2, 9: the form starts with type 1, the group default and a proxy field', async () => {
    await using visit = await site.visit({ as: rootAccount })
    const { page } = visit
    await visit.open('/channel/add')
    const proxyHint = page.getByText("Leave empty to use the provider's default.")
    await proxyHint.waitFor()
    await eventually(() => page.getByLabel('Type', { exact: true }).inputValue()).toBe('OpenAI')
    await page.getByRole('button', { name: 'Remove default' }).waitFor()
    const choose = async (words: string) => {
      await page.getByLabel('Type', { exact: true }).fill(words)
      await page.getByRole('option', { name: words, exact: true }).click()
    }
    await choose('Custom')
    await page.getByLabel('Base URL').waitFor()
    await eventually(() => proxyHint.count()).toBe(0)
    await choose('Azure OpenAI')
    await page.getByLabel('Endpoint').waitFor()
    await eventually(() => page.getByLabel('Default API version').getAttribute('placeholder')).toBe(
      '2023-06-01-preview',
    )
  })

  test('ways to add models are disabled until the models have loaded', async () => {
    await using visit = await site.visit({ as: rootAccount })
    const { page } = visit
    const release = await hold(page, '**/api/channel/models')
    await visit.open('/channel/add')
    await page.getByRole('button', { name: 'More ways to add models' }).click()
    const isOff = (name: string) => page.getByRole('menuitem', { name }).getAttribute('aria-disabled')
    const names = ['Add basic', 'Add all']
    for (const name of names) await eventually(() => isOff(name)).toBe('true')
    release()
    for (const name of names) await eventually(() => isOff(name)).not.toBe('true')
  })

  test('a key is tested and the models of its provider are fetched before the channel is saved', async () => {
    await using visit = await site.visit({ as: rootAccount })
    const { page } = visit
    await visit.open('/channel/add')
    await page.getByLabel('Type', { exact: true }).fill('Custom')
    await page.getByRole('option', { name: 'Custom', exact: true }).click()
    await eventually(() => page.getByLabel('Name', { exact: true }).inputValue()).toBe('Custom')
    const test = page.getByRole('button', { name: 'Test key and fetch models' })
    await test.click()
    await page.getByText('Enter a key.').waitFor()
    await page.getByLabel('Key', { exact: true }).fill('sk-before')
    await page.getByLabel('Base URL').fill(upstream.url)
    const models = page.getByLabel('Models', { exact: true })
    await models.fill('gpt-4o')
    await models.press('Enter')
    await models.fill('unknown-model')
    await models.press('Enter')
    await models.press('Escape')
    upstream.next(okModels(['gpt-4o', 'o3']), status(401, { message: 'Incorrect API key provided: sk-before.' }))
    await test.click()
    await page.getByText('The test of gpt-4o failed').waitFor()
    await page.getByText('Incorrect API key provided').waitFor()
    await page.getByLabel('Key', { exact: true }).fill('sk-after')
    // The report was about the previous key, so it is no longer shown.
    await eventually(() => page.getByText('The test of gpt-4o failed').count()).toBe(0)
    upstream.next(okModels(['gpt-4o', 'o3']), ok())
    await test.click()
    await page.getByText(/^The key works: gpt-4o answered in /).waitFor()
    await page.getByText('Selected, but not offered by the provider: unknown-model').waitFor()
    await page.getByRole('button', { name: 'Remove it' }).click()
    await page.getByRole('button', { name: 'Add all of them' }).click()
    await page.getByRole('button', { name: 'Remove o3', exact: true }).waitFor()
    await eventually(() => page.getByText('unknown-model').count()).toBe(0)
    const made = await channelsNamed('Custom')
    await submit(page)
    await toastShown(page, 'success', 'channel created successfully!')
    const after = await channelsNamed('Custom')
    expect(after).toHaveLength(made.length + 1)
    expect(after[0]).toMatchObject({ models: 'gpt-4o,o3', base_url: upstream.url })
  })

  test('the name follows the provider until the user types one, and the field "Other" appears only for types that use it', async () => {
    await using visit = await site.visit({ as: rootAccount })
    const { page } = visit
    await visit.open('/channel/add')
    const name = page.getByLabel('Name', { exact: true })
    const pick = async (label: string) => {
      await page.getByLabel('Type', { exact: true }).fill(label)
      await page.getByRole('option', { name: label, exact: true }).click()
    }
    await eventually(() => name.inputValue()).toBe('OpenAI')
    await eventually(() => page.getByLabel('Other').count()).toBe(0)
    // A name that the form filled in does not count as an unsaved change.
    await page.getByRole('link', { name: 'Channels' }).first().click()
    await page.waitForURL('**/channel')
    await visit.open('/channel/add')
    await pick('Google Gemini')
    await eventually(() => name.inputValue()).toBe('Google Gemini')
    await page.getByLabel('API version').waitFor()
    await name.fill('mine')
    await pick('DeepSeek')
    await eventually(() => page.getByLabel('API version').count()).toBe(0)
    expect(await name.inputValue()).toBe('mine')
  })

  test('the form of a channel shows its status, its last test, and leads to its logs', async () => {
    const [id = 0] = (await addChannel({ name: 'has a state', priority: 3 })) ?? []
    upstream.next(status(503, { message: 'out of service' }))
    await site.api('GET', `/api/channel/test/${id}`).catch(() => undefined)
    await using visit = await site.visit({ as: rootAccount })
    const { page } = visit
    await visit.open(`/channel/edit/${id}`)
    const state = page.getByRole('region', { name: 'Current state' })
    await state.getByText('Enabled').waitFor()
    await state.getByText('Test failed').waitFor()
    await state.getByText('out of service').waitFor()
    // The channel has a priority, so the advanced settings are open.
    await eventually(() => page.getByLabel('Priority').inputValue()).toBe('3')
    await state.getByRole('link', { name: 'View logs' }).click()
    await page.waitForURL(`**/log?channel=${id}`)
  })

  test('a user who leaves while a new channel is being tested is not brought back to the form', async () => {
    await using visit = await site.visit({ as: rootAccount })
    const { page } = visit
    const held = Promise.withResolvers<void>()
    const testCall = /\/api\/channel\/test\/\d+/
    await page.route(testCall, async (route) => {
      await held.promise
      await route.continue()
    })
    await visit.open('/channel/add')
    await page.getByLabel('Name', { exact: true }).fill('tested meanwhile')
    await page.getByLabel('Key', { exact: true }).fill('sk-x')
    await page.getByLabel('Base URL').fill(upstream.url)
    const models = page.getByLabel('Models', { exact: true })
    await models.fill('gpt-4o')
    await models.press('Enter')
    await models.press('Escape')
    const tested = page.waitForRequest(testCall)
    await page.getByRole('button', { name: 'Save and test' }).click()
    await tested
    await page.getByRole('navigation').getByRole('link', { name: 'Tokens' }).first().click()
    await page.getByRole('heading', { name: 'my tokens' }).waitFor()
    held.resolve()
    await toastShown(page, 'info', 'channel tested meanwhile tested successfully')
    expect(page.url()).toEndWith('/token')
  })

  test('if a channel was saved but its test failed, the form then edits that channel, and the error stays visible', async () => {
    await using visit = await site.visit({ as: rootAccount })
    const { page } = visit
    await visit.open('/channel/add')
    await page.getByLabel('Name', { exact: true }).fill('out of reach')
    await page.getByLabel('Key', { exact: true }).fill('sk-x')
    await page.getByLabel('Base URL').fill('http://127.0.0.1:1')
    const models = page.getByLabel('Models', { exact: true })
    await models.fill('gpt-4o')
    await models.press('Enter')
    await models.press('Escape')
    await page.getByRole('button', { name: 'Save and test' }).click()
    await page.waitForURL(/\/channel\/edit\/\d+$/)
    const failure = page.getByRole('form').getByText('Test failed')
    await failure.waitFor()
    await eventually(() => failure.evaluate((it) => it.getBoundingClientRect().bottom <= innerHeight)).toBe(true)
    await eventually(() => page.getByLabel('Name', { exact: true }).inputValue()).toBe('out of reach')
    await page.getByRole('button', { name: 'Submit' }).click()
    await toastShown(page, 'success', 'channel updated successfully!')
    await eventually(() => channelsNamed('out of reach')).toHaveLength(1)
  })

  test('spec 5: another type fills in its models if none were chosen by hand, and removes those that the previous type filled in', async () => {
    const types = await site.api<{ type: number; label: string; models: string[]; keyHint: string }[]>(
      'GET',
      '/api/channel/types',
    )
    await using visit = await site.visit({ as: rootAccount })
    const { page } = visit
    for (const type of [14, 11, 15, 17, 16, 18, 19]) {
      const entry = types.find((each) => each.type === type)
      expect([type, (entry?.models.length ?? 0) > 0]).toEqual([type, true])
      await visit.open('/channel/add')
      await page.getByLabel('Type', { exact: true }).fill(entry?.label ?? '')
      await page.getByRole('option', { name: entry?.label ?? '', exact: true }).click()
      await page.getByRole('button', { name: `Remove ${entry?.models[0]}`, exact: true }).waitFor()
    }
    await page.getByLabel('Type', { exact: true }).fill('Anthropic Claude')
    await page.getByRole('option', { name: 'Anthropic Claude', exact: true }).click()
    const [first = ''] = types.find((each) => each.type === 19)?.models ?? []
    await page
      .getByRole('button', { name: /^Remove claude/ })
      .first()
      .waitFor()
    await eventually(() => page.getByRole('button', { name: `Remove ${first}`, exact: true }).count()).toBe(0)
    expect(types.find((each) => each.type === 15)?.keyHint).toContain('APIKey|SecretKey')
    expect(types.find((each) => each.type === 18)?.keyHint).toContain('APPID|APISecret|APIKey')
  })

  test('spec 2, 3: the form offers every type of the specification and shows the key format of types 15 and 18', async () => {
    // Type 1 comes last, because it is already selected at first.
    const ids = [3, 14, 11, 15, 16, 17, 18, 19, 8, 20, 2, 5, 7, 10, 4, 6, 9, 12, 13, 1]
    const types = await site.api<{ type: number; label: string }[]>('GET', '/api/channel/types')
    const labelOf = (id: number) => types.find(({ type }) => type === id)?.label ?? `no type ${id}`
    await using visit = await site.visit({ as: rootAccount })
    const { page } = visit
    await visit.open('/channel/add')
    const box = page.getByLabel('Type', { exact: true })
    for (const id of ids) {
      // The label is not typed completely, so the text in the box afterwards must come from the choice.
      await box.fill(labelOf(id).slice(0, -1))
      await page.getByRole('option', { name: labelOf(id), exact: true }).click()
      await eventually(() => box.inputValue()).toBe(labelOf(id))
      if (id === 15) await page.getByText('APIKey|SecretKey').waitFor()
      if (id === 18) await page.getByText('APPID|APISecret|APIKey').waitFor()
    }
  })

  test('clicking the type box before it has loaded opens the list of all types below it', async () => {
    await using visit = await site.visit({ as: rootAccount })
    const { page } = visit
    const letGo = await openHeld(page, '/channel/add', control)
    const box = page.getByLabel('Type', { exact: true })
    await box.click()
    expect(await box.getAttribute('aria-busy')).toBe('true')
    await letGo()
    await page.getByRole('option', { name: 'Anthropic Claude', exact: true }).click()
    await eventually(() => box.inputValue()).toBe('Anthropic Claude')
  })

  test('a pending list does not open after the user leaves the box or presses Escape', async () => {
    for (const { early, keys } of [
      { early: false, keys: ['Tab', 'Shift+Tab'] },
      { early: false, keys: ['Escape'] },
      { early: true, keys: ['Escape'] },
    ]) {
      await using visit = await site.visit({ as: rootAccount })
      const { page } = visit
      const release = await hold(page, '**/api/channel/models')
      const letGo = await openHeld(page, '/channel/add', control)
      const box = page.getByLabel('Models', { exact: true })
      const press = async () => {
        for (const key of keys) await page.keyboard.press(key)
      }
      await box.click()
      if (early) await press()
      await letGo()
      await eventually(() => box.getAttribute('role')).toBe('combobox')
      // The button before the box must be enabled before a key is pressed, because Shift+Tab moves the focus only to an
      // enabled button.
      await page.getByRole('button', { name: 'Add recommended', disabled: false }).waitFor()
      if (!early) await press()
      expect(await box.evaluate((it) => it === document.activeElement)).toBe(true)
      const answered = page.waitForResponse('**/api/channel/models')
      release()
      await answered
      await staysShut(box)
      await page.keyboard.press('ArrowDown')
      await page.getByRole('option', { name: 'gpt-4o', exact: true }).waitFor()
    }
  })

  test('clicking the type box and typing searches for the typed text, before and after it has loaded', async () => {
    for (const early of [true, false]) {
      await using visit = await site.visit({ as: rootAccount })
      const { page } = visit
      const letGo = await openHeld(page, '/channel/add', control)
      const box = page.getByLabel('Type', { exact: true })
      if (early) await box.click()
      await letGo()
      await page.waitForLoadState('networkidle')
      await eventually(() => box.getAttribute('aria-busy')).toBe(null)
      if (!early) await box.click()
      await page.keyboard.type('custom')
      await page.getByRole('option', { name: 'Custom', exact: true }).waitFor()
      await page.keyboard.press('Enter')
      await eventually(() => box.inputValue()).toBe('Custom')
      // A second click sets the caret at the clicked position.
      await box.click({ position: { x: 20, y: 10 } })
      const selected = () => box.evaluate((it: HTMLInputElement) => (it.selectionEnd ?? 0) - (it.selectionStart ?? 0))
      expect(await selected()).toBe(0)
    }
  })

  test('the search text in the type box is not lost when the types load', async () => {
    await using visit = await site.visit({ as: rootAccount })
    const { page } = visit
    const release = await hold(page, '**/api/channel/types')
    await visit.open('/channel/add')
    const box = page.getByLabel('Type', { exact: true })
    await box.fill('360')
    release()
    await page.getByRole('option', { name: '360', exact: true }).waitFor()
    expect(await box.inputValue()).toBe('360')
    await page.keyboard.press('Escape')
    await eventually(() => box.inputValue()).toBe('OpenAI')
    await box.fill('360')
    await page.getByRole('option', { name: '360', exact: true }).waitFor()
    await page.getByLabel('Name', { exact: true }).click()
    await eventually(() => box.inputValue()).toBe('OpenAI')
  })

  test('if a channel’s type is far down the list, the list opens at that type, whether clicked before or after loading', async () => {
    const types = await site.api<{ type: number; label: string }[]>('GET', '/api/channel/types')
    const { type, label } = types.at(-1) ?? { type: 0, label: 'no type' }
    const [id] = await addChannel({ type, name: 'far down' })
    await using visit = await site.visit({ as: rootAccount })
    const { page } = visit
    const box = page.getByLabel('Type', { exact: true })
    const chosen = page.getByRole('option', { name: label, exact: true })
    const isInSight = () =>
      chosen.evaluate((option) => {
        const [own, list] = [option, option.closest('.ui-popup')].map((each) => each?.getBoundingClientRect())
        return own && list && own.top >= list.top && own.bottom <= list.bottom
      })
    const release = await hold(page, '**/api/channel/types')
    const letGo = await openHeld(page, `/channel/edit/${id}`, control)
    await box.click()
    expect(await box.getAttribute('aria-busy')).toBe('true')
    await letGo()
    await eventually(() => box.getAttribute('role')).toBe('combobox')
    release()
    await eventually(isInSight).toBe(true)
    await page.keyboard.press('Escape')
    await eventually(() => box.getAttribute('aria-expanded')).toBe('false')
    await box.click()
    await eventually(isInSight).toBe(true)
  })

  test('if the name of the type loads late, it is not added to the text that is being typed', async () => {
    await using visit = await site.visit({ as: rootAccount })
    const { page } = visit
    const letGo = await hold(page, '**/api/channel/types')
    await visit.open('/channel/add')
    const name = page.getByLabel('Name', { exact: true })
    await name.focus()
    const loaded = page.waitForResponse('**/api/channel/types')
    letGo()
    await loaded
    await page.getByRole('combobox', { name: 'Type', exact: true }).waitFor()
    await page.keyboard.type('my own')
    expect(await name.inputValue()).toBe('my own')
    await name.fill('')
    await page.getByLabel('Key', { exact: true }).focus()
    await eventually(() => name.inputValue()).toBe('OpenAI')
  })

  test('spec 2: a channel may serve several groups', async () => {
    const groups = await site.api<string[]>('GET', '/api/group/')
    const other = groups.find((group) => group !== 'default') ?? ''
    await using visit = await site.visit({ as: rootAccount })
    const { page } = visit
    await visit.open('/channel/add')
    await page.getByLabel('Name', { exact: true }).fill('for two')
    await page.getByLabel('Key', { exact: true }).fill('k')
    await addBasic(page)
    const box = page.getByLabel('Groups', { exact: true })
    // Waits until the control has loaded. Other tests click it earlier.
    await eventually(() => box.getAttribute('aria-busy')).toBe(null)
    await box.click()
    await page.getByRole('option', { name: other, exact: true }).click()
    await box.press('Escape')
    await submit(page)
    await toastShown(page, 'success', 'channel created successfully!')
    await eventually(async () => (await channelsNamed('for two'))[0]).toMatchObject({ group: `default,${other}` })
  })

  test('spec 5, 8: type 18 gets its default version, and saving an edit shows a message', async () => {
    await using visit = await site.visit({ as: rootAccount })
    const { page } = visit
    await visit.open('/channel/add')
    await page.getByLabel('Type', { exact: true }).fill('Spark')
    await page.getByRole('option', { name: /Spark/ }).first().click()
    await eventually(() => page.getByLabel('Model version').getAttribute('placeholder')).toBe('v2.1')
    await page.getByLabel('Name', { exact: true }).fill('spark made')
    await page.getByLabel('Key', { exact: true }).fill('app|secret|key')
    await submit(page)
    await toastShown(page, 'success', 'channel created successfully!')
    const [made] = await channelsNamed('spark made')
    expect(made).toMatchObject({ type: 18, other: 'v2.1' })
    await visit.open(`/channel/edit/${made?.id}`)
    await page.getByLabel('Name', { exact: true }).fill('spark renamed')
    await submit(page)
    await toastShown(page, 'success', 'channel updated successfully!')
    await eventually(() => channelsNamed('spark renamed')).toHaveLength(1)
  })

  test('spec 5: model names are added as typed, except empty and listed names; Escape removes no name', async () => {
    await using visit = await site.visit({ as: rootAccount })
    const { page } = visit
    await visit.open('/channel/add')
    const box = page.getByLabel('Models', { exact: true })
    for (const words of [' my-model ', 'gpt-4', '   ', 'gpt-4', 'my-model']) {
      await box.fill(words)
      await box.press('Enter')
    }
    await page.getByText('2 selected').waitFor()
    await box.press('Escape')
    await box.press('Escape')
    await page.getByText('2 selected').waitFor()
    for (const name of ['my-model', 'gpt-4'])
      await page.getByRole('button', { name: `Remove ${name}`, exact: true }).waitFor()
    expect(visit.calls().filter((call) => call.startsWith('POST'))).toEqual([])
  })

  test('spec 9: the mapping can be filled with the example', async () => {
    await using visit = await site.visit({ as: rootAccount })
    const { page } = visit
    await visit.open('/channel/add')
    await openAdvanced(page)
    await page.getByRole('button', { name: 'Insert example' }).click()
    await page.getByText('JSON', { exact: true }).click()
    await eventually(async () => JSON.parse(await page.getByLabel('Model mapping').last().inputValue())).toEqual({
      'gpt-3.5-turbo-0301': 'gpt-3.5-turbo',
      'gpt-4-0314': 'gpt-4',
      'gpt-4-32k-0314': 'gpt-4-32k',
    })
  })

  test('requested models that the channel does not serve are listed, and one click adds them to its models', async () => {
    await using visit = await site.visit({ as: rootAccount })
    const { page } = visit
    await visit.open('/channel/add')
    await page.getByLabel('Name', { exact: true }).fill('maps')
    await page.getByLabel('Key', { exact: true }).fill('k')
    const models = page.getByLabel('Models', { exact: true })
    const warning = page.getByText('Unused mapping')
    const names = (...list: string[]) =>
      `Unused mapping: the requested model is not in the list above: ${list.join(', ')}`
    await openAdvanced(page)
    await page.getByRole('button', { name: 'Add mapping' }).click()
    await page.getByLabel('Requested model 1').fill('first ')
    await page.getByLabel('Upstream model 1').fill('gpt-4o')
    // The error about missing models is only shown on submit.
    await eventually(() => warning.count()).toBe(0)
    await models.fill('gpt-4o')
    await models.press('Enter')
    await models.press('Escape')
    await eventually(() => warning.textContent()).toBe(names('first'))
    await page.getByRole('button', { name: 'Add it to the models' }).click()
    await page.getByRole('button', { name: 'Remove first', exact: true }).waitFor()
    await eventually(() => warning.count()).toBe(0)
    await eventually(() => models.evaluate((it) => it === document.activeElement)).toBe(true)
    await page.getByText('JSON', { exact: true }).click()
    const json = page.getByLabel('Model mapping').last()
    const mapping = '{"first":"gpt-4o","second":"gpt-4o","third":"gpt-4o","gpt-4o":"gpt-4"}'
    await json.fill(mapping)
    await eventually(() => warning.textContent()).toBe(names('second', 'third'))
    await json.fill(mapping.slice(0, -1))
    await eventually(() => warning.count()).toBe(0)
    await json.fill(mapping)
    await page.getByRole('button', { name: 'Add them to the models' }).click()
    await eventually(() => warning.count()).toBe(0)
    await submit(page)
    await toastShown(page, 'success', 'channel created successfully!')
    const [made] = await channelsNamed('maps')
    expect(made).toMatchObject({ models: 'gpt-4o,first,second,third', model_mapping: mapping })
  })

  test('an edit keeps the stored key, and the channel can be tested immediately', async () => {
    const [id] = await addChannel({ name: 'to edit' })
    await using visit = await site.visit({ as: rootAccount })
    const { page } = visit
    await visit.open(`/channel/edit/${id}`)
    await eventually(() => page.getByLabel('Key', { exact: true }).inputValue()).toBe('')
    await page.getByLabel('Name', { exact: true }).fill('was edited')
    await page.getByRole('button', { name: 'Save and test' }).click()
    await page.getByText(/Test succeeded in \d+\.\d\d s/).waitFor()
    await toastShown(page, 'success', 'channel updated successfully!')
    await eventually(() => channelsNamed('was edited')).toHaveLength(1)
  })
})

test('a row shows two of the channel’s groups, or one group on a narrow screen; a button shows all groups', async () => {
  const groups = ['alpha', 'beta', 'gamma', 'delta', 'epsilon']
  const fields = { type: 1, name: 'of many groups', key: 'sk-x', models: 'gpt-4o', group: groups.join(',') }
  await site.api('POST', '/api/channel/', fields)
  await using visit = await site.visit({ as: rootAccount, width: 1500 })
  const { page } = visit
  await visit.open('/channel')
  const row = page.getByRole('row').filter({ hasText: 'of many groups' })
  const shown = (text: string) => row.getByText(text, { exact: true }).isVisible()
  await row.getByText('beta', { exact: true }).waitFor()
  expect([await shown('+3'), await shown('+4'), await row.getByText('delta').count()]).toEqual([true, false, 0])
  await page.setViewportSize({ width: 1366, height: 860 })
  await eventually(() => shown('beta')).toBe(false)
  expect([await shown('alpha'), await shown('+3'), await shown('+4')]).toEqual([true, false, true])
  await row.getByRole('button', { name: 'Show all 5 groups' }).click()
  const panel = page.getByRole('dialog', { name: 'Groups' })
  await eventually(() => panel.getByRole('listitem').allTextContents()).toEqual(groups.toSorted())
  // The click on the button did not open the row's drawer.
  expect(new URL(page.url()).searchParams.get('peek')).toBeNull()
})
