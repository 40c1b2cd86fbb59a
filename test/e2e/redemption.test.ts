// Sections of the specification (see coverage.md): 2 (redemption list and form, top-up page), 4 (redemption status), 5
// (top-up), 8 (messages), 9 (defaults).

import { beforeAll, describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { refuseClipboard } from './support/clipboard.ts'
import { openConsole, rootAccount } from './support/console.ts'
import { openDatabase } from './support/database.ts'
import { eventually } from './support/eventually.ts'
import { choose, rowOf, rowsOf } from './support/lists.ts'
import { toastShown } from './support/toasts.ts'

const site = openConsole()

interface Code {
  id: number
  expired_time: number
  key: string
  status: number
  quota: number
}

const make = (name: string, count = 1) =>
  site.api<string[]>('POST', '/api/redemption/', { name, quota: 250_000, count })
const codes = () => site.api<(Code & { name: string })[]>('GET', '/api/redemption/?p=0&size=100')

describe('redemption codes', () => {
  test('spec 2, 5, 8, 9: the form starts with quota 100000 and count 1; the new codes are saved as a text file, one per line', async () => {
    await using visit = await site.visit({ as: rootAccount })
    const { page } = visit
    await visit.open('/redemption/add')
    await eventually(() => page.getByLabel('Quota', { exact: true }).inputValue()).toBe('0.20')
    await page.getByText('= 100,000 units').waitFor()
    await eventually(() => page.getByLabel('Number of codes').inputValue()).toBe('1')
    await page.getByRole('button', { name: 'Submit' }).click()
    await page.getByText('This field is required.').waitFor()
    await page.getByLabel('Name').fill('spring')
    await page.getByLabel('Number of codes').fill('3')
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Submit' }).click(),
    ])
    expect(download.suggestedFilename()).toBe('spring.txt')
    const saved = readFileSync(await download.path(), 'utf8')
    const made = (await codes()).filter(({ name }) => name === 'spring').map(({ key }) => key)
    expect(saved.split('\n').slice(0, -1).sort()).toEqual(made.sort())
    await toastShown(page, 'success', 'redemption code created successfully!')
    await page.getByText('3 codes created').waitFor()
  })

  test('the list can be filtered by status; paging and search stay within the filter', async () => {
    const [spent = ''] = await make('narrow spent')
    await make('narrow open', 11)
    await site.apiAs(await site.addUser('spender'), 'POST', '/api/user/topup', { key: spent })
    await using visit = await site.visit({ as: rootAccount })
    const { page } = visit
    await visit.open('/redemption?page=2')
    const status = page.getByRole('combobox', { name: 'Status' })
    await status.focus()
    await page.keyboard.press('u')
    await eventually(() => new URL(page.url()).search).toBe('?status=1')
    await eventually(() => rowsOf(page).count()).toBe(10)
    await page.getByLabel('Search by ID or name').fill('narrow')
    await eventually(() => new URL(page.url()).search).toBe('?status=1&q=narrow')
    await page.getByText('11 rows').waitFor()
    await page.getByRole('button', { name: 'Next page' }).click()
    await eventually(() => rowsOf(page).count()).toBe(1)
    await eventually(() => new URL(page.url()).search).toBe('?status=1&q=narrow&page=2')
    await status.selectOption('Used')
    await eventually(() => page.getByRole('rowheader').allTextContents()).toEqual(['narrow spent'])
    await status.selectOption('Disabled')
    await page.getByText('No results match your search and filters.').waitFor()
    await page.getByRole('button', { name: 'Clear search and filters' }).click()
    await eventually(() => new URL(page.url()).search).toBe('')
    await eventually(() => rowsOf(page).count()).toBe(10)
  })

  test('spec 4: a code can be disabled and enabled until it is used', async () => {
    const [used = ''] = await make('used one')
    await make('open one')
    const person = await site.addUser('redeemer')
    await site.apiAs(person, 'POST', '/api/user/topup', { key: used })
    await using visit = await site.visit({ as: rootAccount })
    const { page } = visit
    await visit.open('/redemption')
    await rowOf(page, 'open one').getByText('unused').waitFor()
    await eventually(() => rowOf(page, 'open one').textContent()).toContain('Not redeemed')
    await page.getByRole('button', { name: 'Disable: open one' }).click()
    await rowOf(page, 'open one').getByText('disabled').waitFor()
    await page.getByRole('button', { name: 'Enable: open one' }).click()
    await rowOf(page, 'open one').getByText('unused').waitFor()
    await eventually(() => page.getByRole('button', { name: 'Enable: used one' }).isDisabled()).toBe(true)
    await choose(page, 'used one', 'Delete')
    await page.getByRole('alertdialog').getByRole('button', { name: 'Delete', exact: true }).click()
    await rowOf(page, 'used one').waitFor({ state: 'detached' })
  })

  test('spec 8: if the browser refuses to copy a code, there is a warning, and the code is put into the search box', async () => {
    const [key] = await make('to copy')
    await using visit = await site.visit({ as: rootAccount })
    const { page } = visit
    await refuseClipboard(page)
    await visit.open('/redemption')
    await page.getByRole('button', { name: 'Actions for to copy', exact: true }).click()
    await page.getByRole('menuitem', { name: /^Copy code/ }).click()
    await toastShown(page, 'warning', 'cannot copy to clipboard, please copy manually')
    await eventually(() => page.getByLabel('Search by ID or name').inputValue()).toBe(key ?? '')
  })

  test('several codes are copied, one per line, and their rows stay selected', async () => {
    const keys = await make('bundle', 3)
    await using visit = await site.visit({ as: rootAccount })
    const { page } = visit
    await visit.open('/redemption?q=bundle')
    await eventually(() => rowsOf(page).count()).toBe(3)
    await page.getByLabel('Select all rows on this page').check()
    await page.getByRole('button', { name: 'Copy', exact: true }).click()
    await toastShown(page, 'success', '3 codes copied to clipboard!')
    const copied = await page.evaluate(() => navigator.clipboard.readText())
    expect(copied.split('\n').sort()).toEqual(keys.sort())
    await page.getByText('3 selected').waitFor()
  })

  test('spec 5: quota and count are whole numbers', async () => {
    await site.api('PUT', '/api/option/', { key: 'DisplayInCurrencyEnabled', value: 'false' })
    try {
      await using visit = await site.visit({ as: rootAccount })
      const { page } = visit
      await visit.open('/redemption/add')
      await page.getByLabel('Name').fill('in parts')
      for (const label of ['Quota', 'Number of codes']) {
        const box = page.getByLabel(label, { exact: true })
        const whole = await box.inputValue()
        for (const bad of ['1.5', '']) {
          await box.fill(bad)
          await page.getByRole('button', { name: 'Submit' }).click()
          await eventually(() => box.getAttribute('aria-invalid')).toBe('true')
        }
        await box.fill(whole)
      }
      expect(visit.calls().filter((call) => call.startsWith('POST'))).toEqual([])
    } finally {
      await site.api('PUT', '/api/option/', { key: 'DisplayInCurrencyEnabled', value: 'true' })
    }
  })

  test('spec 8: name and quota can be changed', async () => {
    await make('before')
    const id = (await codes()).find(({ name }) => name === 'before')?.id
    await using visit = await site.visit({ as: rootAccount })
    const { page } = visit
    await visit.open(`/redemption/edit/${id}`)
    await page.getByLabel('Name').fill('after')
    // The form asks for the number of codes only on creation.
    await eventually(() => page.getByLabel('Number of codes').count()).toBe(0)
    await page.getByLabel('Quota', { exact: true }).fill('0.000084')
    await page.getByRole('button', { name: 'Submit' }).click()
    await toastShown(page, 'success', 'redemption code updated successfully!')
    await eventually(async () => (await codes()).find((code) => code.id === id)).toMatchObject({
      name: 'after',
      quota: 42,
    })
  })

  test('spec 2: unused codes of a batch are on a sheet of QR codes; new codes can have an expiry and a prefix', async () => {
    await using visit = await site.visit({ as: rootAccount })
    const { page } = visit
    await visit.open('/redemption/add')
    await page.getByLabel('Name').fill('fair')
    await page.getByLabel('Number of codes').fill('2')
    await eventually(() => page.getByLabel('Expiry').inputValue()).toBe('Never')
    await page.getByRole('button', { name: '30 days' }).click()
    const prefix = page.getByLabel('Prefix')
    await prefix.fill('a b')
    await page.getByRole('button', { name: 'Submit' }).click()
    await eventually(() => prefix.getAttribute('aria-invalid')).toBe('true')
    await prefix.fill('FAIR-')
    await page.getByRole('button', { name: 'Submit' }).click()
    await page.getByText('2 codes created').waitFor()
    const made = (await codes()).filter(({ name }) => name === 'fair')
    for (const { key, expired_time } of made) {
      expect(key).toMatch(/^FAIR-[0-9a-f]{27}$/)
      expect(Math.abs(expired_time - Date.now() / 1000 - 30 * 86_400)).toBeLessThan(3600)
    }
    await page.getByRole('link', { name: 'QR sheet' }).click()
    await page.waitForURL('**/redemption/sheet?batch=fair')
    await eventually(() => page.getByRole('img', { name: /^QR code of the code that ends in/ }).count()).toBe(2)
    for (const { key } of made) await page.getByRole('main').getByRole('listitem').getByText(key).waitFor()
    await eventually(() => page.getByRole('main').getByRole('listitem').first().textContent()).toContain('Valid until')
    // Only the codes are printed.
    await page.emulateMedia({ media: 'print' })
    expect(await page.getByRole('button', { name: 'Print' }).isVisible()).toBe(false)
    expect(
      await page
        .getByRole('listitem')
        .getByText(made[0]?.key ?? '')
        .isVisible(),
    ).toBe(true)
    await page.emulateMedia({ media: null })
    await visit.open(`/redemption/edit/${made[0]?.id}`)
    await page.getByRole('button', { name: 'Never' }).click()
    await page.getByRole('button', { name: 'Submit' }).click()
    await toastShown(page, 'success', 'redemption code updated successfully!')
    await eventually(async () => (await codes()).find(({ id }) => id === made[0]?.id)?.expired_time).toBe(0)
  })

  test('spec 2: batches show how many codes they have and how much is outstanding, and can be disabled as a whole', async () => {
    const [used = '', ...others] = await make('harvest', 4)
    const person = await site.addUser('harvester')
    await site.apiAs(person, 'POST', '/api/user/topup', { key: used })
    using database = openDatabase(site)
    database.prepare('update redemptions set expired_time = 1700000000 where key = ?').run(others[0] ?? '')
    await using visit = await site.visit({ as: rootAccount })
    const { page } = visit
    await visit.open('/redemption')
    await page.getByRole('link', { name: 'Batches' }).click()
    await page.getByLabel('Search by name').fill('harv')
    await eventually(() => rowsOf(page).count()).toBe(1)
    const cells = () => rowOf(page, 'harvest').getByRole('cell').allTextContents()
    await eventually(async () => (await cells()).slice(0, 7)).toEqual(['4', '2', '1', '0', '1', '$1.00', '$0.50'])
    await choose(page, 'harvest', 'Disable unused codes')
    await page.getByRole('alertdialog').getByText('3 codes can no longer be redeemed').waitFor()
    await page.getByRole('alertdialog').getByRole('button', { name: 'Disable unused codes' }).click()
    await toastShown(page, 'success', '3 codes disabled')
    await eventually(async () => (await cells()).slice(0, 6)).toEqual(['4', '0', '1', '3', '0', '$0.00'])
    await choose(page, 'harvest', 'Enable disabled codes')
    await toastShown(page, 'success', '3 codes enabled')
    await page.getByRole('link', { name: 'harvest' }).click()
    await page.waitForURL('**/redemption?batch=harvest')
    await eventually(() => rowsOf(page).count()).toBe(4)
    await page.getByRole('combobox', { name: 'Status' }).selectOption('Expired')
    await eventually(() => rowsOf(page).count()).toBe(1)
    await rowOf(page, 'harvest').getByText('Expired', { exact: true }).waitFor()
    await page.getByRole('combobox', { name: 'Status' }).selectOption('Used')
    await page.getByRole('link', { name: person.username }).click()
    await page.waitForURL('**/user?peek=*')
  })
})

describe('topping up', () => {
  test('an expired code is refused in the language of the user', async () => {
    const [code = ''] = await make('old')
    using database = openDatabase(site)
    database.prepare('update redemptions set expired_time = 1700000000 where key = ?').run(code)
    await using visit = await site.visit({ as: await site.addUser('late'), language: 'zh' })
    const { page } = visit
    await visit.open('/topup')
    await page.getByRole('main').getByRole('textbox').fill(code)
    await page.getByRole('main').locator('button[type="submit"]').click()
    await page.getByText('该兑换码已过期。').first().waitFor()
  })

  beforeAll(() => site.api('PUT', '/api/option/', { key: 'TopUpLink', value: '' }))

  test('spec 5, 6: an empty code and a missing link are reported', async () => {
    const person = await site.addUser('asker')
    await using visit = await site.visit({ as: person })
    const { page } = visit
    await visit.open('/topup')
    await page.getByRole('button', { name: 'Redeem' }).click()
    await toastShown(page, 'info', 'please enter the top-up code!')
    await page.getByRole('button', { name: 'Get a code' }).click()
    await toastShown(page, 'error', 'the super admin has not set a top-up link!')
  })

  test('spec 2, 8: redeeming a code adds its quota; a refused code stays in the box', async () => {
    const person = await site.addUser('topper', { quota: 500_000 })
    const [code = '', other = ''] = await make('for topper', 2)
    await using visit = await site.visit({ as: person })
    const { page } = visit
    await visit.open('/topup')
    await page.getByText('$1.00').first().waitFor()
    const box = page.getByLabel('Redemption code')
    await box.fill(code)
    await page.getByRole('button', { name: 'Redeem' }).click()
    await toastShown(page, 'success', 'top-up successful!')
    await page.getByText('$1.50').first().waitFor()
    await eventually(() => box.inputValue()).toBe('')
    await box.fill(`${code}\n${other}`)
    await page.getByRole('button', { name: 'Redeem 2 codes' }).click()
    await page.getByText('$2.00').first().waitFor()
    await eventually(() => box.inputValue()).toBe(code)
    await page.getByText('$0.50 added').waitFor()
  })
})
