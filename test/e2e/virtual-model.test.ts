// Sections of the specification (see coverage.md): 7 (pages of other calls).

import { expect, test } from 'bun:test'
import { openConsole, rootAccount } from './support/console.ts'
import { eventually } from './support/eventually.ts'
import { toastShown } from './support/toasts.ts'

const site = openConsole()

test('spec 7: an administrator makes a virtual model, moves its steps by keyboard, tries it, and switches it off', async () => {
  const channel = { type: 1, key: 'k', group: 'default', base_url: 'http://127.0.0.1:9' }
  await site.api('POST', '/api/channel/', { ...channel, name: 'main', models: 'gpt-4o' })
  await site.api('POST', '/api/channel/', { ...channel, name: 'second', models: 'gpt-4o-mini' })
  await using visit = await site.visit({ as: rootAccount })
  const { page } = visit
  await visit.open('/virtual-model')
  await page.getByText('No virtual models yet').waitFor()
  await page.getByRole('link', { name: 'New virtual model' }).click()
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Enter a model for each step.').waitFor()
  await page.getByLabel('Name').fill('assistant')
  await page.getByLabel('Model of step 1').fill('gpt-4o')
  await page.getByRole('button', { name: 'Add step' }).click()
  await page.keyboard.type('gpt-4o-mini')
  const models = async () => Promise.all([1, 2].map((place) => page.getByLabel(`Model of step ${place}`).inputValue()))
  // The row that was moved keeps the focus, so that it can be moved further.
  await page.keyboard.press('Alt+ArrowUp')
  await eventually(models).toEqual(['gpt-4o-mini', 'gpt-4o'])
  await eventually(() => page.evaluate(() => document.activeElement?.getAttribute('aria-label'))).toBe(
    'Model of step 1',
  )
  await page.getByRole('status').getByText('gpt-4o-mini is now step 1 of 2').waitFor()
  await page.getByRole('button', { name: 'Move down: gpt-4o-mini' }).focus()
  await page.keyboard.press('Enter')
  await eventually(models).toEqual(['gpt-4o', 'gpt-4o-mini'])
  await eventually(() => page.evaluate(() => document.activeElement?.getAttribute('aria-label'))).toBe(
    'Move down: gpt-4o-mini',
  )

  const tried = page.getByRole('region', { name: 'Dry run' })
  await tried.getByLabel(/^Request body/).fill('[1]')
  await tried.getByRole('button', { name: 'Run' }).click()
  await tried.getByText('Enter a JSON object.').waitFor()
  await tried.getByLabel(/^Request body/).fill('{"messages": [{"role": "user", "content": "Hi"}], "max_tokens": 1000}')
  await tried.getByRole('button', { name: 'Run' }).click()
  await tried.getByRole('region', { name: '1. gpt-4o', exact: true }).getByText('1. main').waitFor()
  await tried.getByRole('region', { name: '2. gpt-4o-mini' }).getByText('1. second').waitFor()
  await tried.getByText(/would be held, for a prompt of about \d+ tokens/).waitFor()
  expect(await site.api<unknown[]>('GET', '/api/virtual-model/')).toEqual([])

  await page.getByRole('button', { name: 'Save' }).click()
  await toastShown(page, 'success', 'Virtual model saved')
  await page.getByText('gpt-4o → gpt-4o-mini').waitFor()
  const stored = async () => site.api<{ enabled: boolean; steps: { model: string }[] }[]>('GET', '/api/virtual-model/')
  expect((await stored())[0]?.steps.map(({ model }) => model)).toEqual(['gpt-4o', 'gpt-4o-mini'])
  await page.getByRole('switch', { name: 'Virtual model assistant is on' }).click()
  await eventually(async () => (await stored())[0]?.enabled).toBe(false)
  await page.getByRole('button', { name: 'Undo' }).click()
  await eventually(async () => (await stored())[0]?.enabled).toBe(true)
})

test('the form shows refusals of the server, warnings and the stored values; deleting asks for confirmation', async () => {
  await site.api('POST', '/api/virtual-model/', { name: 'first', steps: [{ model: 'second' }] })
  await site.api('POST', '/api/virtual-model/', {
    name: 'second',
    steps: [{ model: 'nowhere', group: 'vip', weight: 2, first_token_timeout: 7 }],
    price: { input: 1, output: 2 },
    failures: ['timeout'],
    groups: ['vip'],
    stream_rescue: false,
  })
  await using visit = await site.visit({ as: rootAccount })
  const { page } = visit
  await visit.open('/virtual-model')
  await page.getByRole('link', { name: 'Edit: second' }).click()
  await page.getByText('No channel serves nowhere in group vip. The step is skipped.').waitFor()
  expect(await page.getByLabel('First token within (s)').inputValue()).toBe('7')
  expect(await page.getByLabel('Weight among adjacent steps').inputValue()).toBe('2')
  expect(await page.getByLabel('Output per million tokens').inputValue()).toBe('2')
  expect(await page.getByLabel('Broken streams').inputValue()).toBe('off')
  expect(await page.getByRole('checkbox', { name: /^Timeout/ }).isChecked()).toBe(true)
  expect(await page.getByRole('checkbox', { name: /^Overloaded/ }).isChecked()).toBe(false)
  await page.getByLabel('Model of step 1').fill('first')
  await page.getByRole('button', { name: 'Save' }).click()
  await toastShown(page, 'error', 'The steps lead in a circle: second → first → second.')
  await page.getByRole('button', { name: 'Cancel' }).click()
  await page.getByRole('alertdialog').getByRole('button').last().click()
  await page.getByRole('button', { name: 'Delete: second' }).click()
  await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click()
  await toastShown(page, 'success', 'Virtual model deleted')
  await page.getByRole('heading', { name: 'second' }).waitFor({ state: 'detached' })
})

test('users who are not administrators see neither the page nor its menu entry', async () => {
  const ada = await site.addUser('virtual-ada')
  await using visit = await site.visit({ as: ada })
  const { page } = visit
  await visit.open('/token')
  expect(await page.getByRole('link', { name: 'Virtual models' }).count()).toBe(0)
})
