// The chart of the logs, with which a time range can be chosen, and the filters, suggested names and saved views of the
// usage page.
import { beforeAll, describe, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { openConsole, rootAccount, type Visit } from './support/console.ts'
import { openDatabase } from './support/database.ts'
import { eventually } from './support/eventually.ts'
import { chooseFacet, facet } from './support/facets.ts'
import { rowsOf } from './support/lists.ts'
import { logWriter } from './support/log-rows.ts'

const site = openConsole()
const day = 86_400
const days = 20

beforeAll(() => {
  using database = openDatabase(site)
  const now = Math.floor(Date.now() / 1000)
  const insert = logWriter(database)
  for (let index = days; index > 0; index--)
    insert({
      created_at: now - index * day,
      token_name: `token ${index % 2}`,
      model_name: index % 2 ? 'gpt-4o' : 'gpt-4o-mini',
      quota: 600,
      prompt_tokens: 20,
      completion_tokens: 7,
      channel_id: 1,
      request_id: `request-${index}`,
      elapsed_time: 900,
      is_stream: 1,
      token_id: 1,
      first_byte_time: 120,
      outcome: index === 3 ? 'interrupted' : 'complete',
    })
})

const chart = (page: Page) => page.getByRole('figure', { name: 'Requests over time' }).getByRole('img')

/** The bars of the chart as the server returned them. */
async function barsOf(page: Page): Promise<{ step: number; starts: number[] }> {
  const answer = await page.waitForResponse((response) => response.url().includes('/api/log/histogram'))
  const { data } = (await answer.json()) as { data: { step: number; starts: number[] } }
  return data
}

/** The time range that one bar covers, in seconds, as chosen by the server. */
const stepOf = async (page: Page) => (await barsOf(page)).step

/** Opens the calls in the log and returns the time range of a bar in seconds. */
async function openCalls(visit: Visit): Promise<number> {
  const step = stepOf(visit.page)
  await visit.open('/log?type=2')
  await rowsOf(visit.page).first().waitFor()
  return step
}

/** The centre of the nth bar on the screen, counting from the first. */
async function barAt(page: Page, nth: number): Promise<{ x: number; y: number }> {
  const bar = chart(page).locator('rect[fill="transparent"]').nth(nth)
  await bar.waitFor()
  const box = await bar.boundingBox()
  if (!box) throw new Error('the bar is not on the screen')
  return { x: box.x + box.width / 2, y: box.y + box.height / 2 }
}

const rangeOf = (page: Page) => {
  const { searchParams } = new URL(page.url())
  return [Number(searchParams.get('from')), Number(searchParams.get('to'))] as const
}

describe('the chart of the logs', () => {
  test('ends at the current time, and its labels have room on a narrow screen', async () => {
    await using visit = await site.visit({ as: rootAccount, width: 390 })
    const { page } = visit
    const now = Math.floor(Date.now() / 1000)
    const answer = barsOf(page)
    // The range is a day and a half, followed by half a day in the future.
    await visit.open(`/log?type=2&from=${now - 1.5 * day}&to=${now + day / 2}`)
    const { starts } = await answer
    expect(starts.at(-1)).toBeGreaterThan(now)
    await eventually(() => chart(page).locator('rect[fill="transparent"]').count()).toBe(
      starts.filter((start) => start <= Date.now() / 1000).length,
    )
    const labels = chart(page).locator('text[text-anchor="middle"]')
    const overlapping = () =>
      labels.evaluateAll((all) => {
        const boxes = all.map((each) => each.getBoundingClientRect())
        return boxes.filter((box, place) => place > 0 && box.left < (boxes[place - 1]?.right ?? 0) + 4).length
      })
    await eventually(() => labels.count()).toBeGreaterThan(1)
    await eventually(overlapping).toBe(0)
  })

  test('dragging over bars filters the list to the dragged range, and the back button undoes it', async () => {
    await using visit = await site.visit({ as: rootAccount })
    const { page } = visit
    const step = await openCalls(visit)
    const [from, to] = [await barAt(page, 3), await barAt(page, 7)]
    await page.mouse.move(from.x, from.y)
    await page.mouse.down()
    await page.mouse.move(to.x, to.y, { steps: 5 })
    await chart(page).locator('[data-range]').waitFor()
    // Releasing the mouse outside the chart still completes the drag.
    await page.mouse.move(to.x, to.y + 300)
    await page.mouse.up()
    await page.waitForURL(/from=\d+&to=\d+/)
    const [start, end] = rangeOf(page)
    expect(end - start).toBe(5 * step - 1)
    const rows = await site.api<unknown[]>('GET', `/api/log/?type=2&start_timestamp=${start}&end_timestamp=${end}`)
    expect(rows.length).toBeGreaterThan(0)
    await page.getByText(new RegExp(`^Page 1 of 1 · ${rows.length} rows?$`)).waitFor()
    await page.goBack()
    await page.getByText(new RegExp(`· ${days} rows$`)).waitFor()
  })

  test('a click on a bar filters the list to that bar', async () => {
    await using visit = await site.visit({ as: rootAccount })
    const { page } = visit
    const step = await openCalls(visit)
    // Playwright clicks only once the bar has stopped moving; content above the chart may still be loading.
    await chart(page).locator('rect[fill="transparent"]').nth(4).click()
    await page.waitForURL(/from=\d+&to=\d+/)
    const [start, end] = rangeOf(page)
    expect(end - start).toBe(step - 1)
  })

  test('a time range can be chosen with the keyboard: arrows, Shift with arrows, Escape, Enter', async () => {
    await using visit = await site.visit({ as: rootAccount })
    const { page } = visit
    const step = await openCalls(visit)
    await barAt(page, 0)
    await chart(page).focus()
    for (const keys of ['ArrowRight', 'ArrowRight', 'Shift+ArrowRight', 'Shift+ArrowRight'])
      await page.keyboard.press(keys)
    await chart(page).locator('[data-range]').waitFor()
    await page.keyboard.press('Escape')
    await chart(page).locator('[data-range]').waitFor({ state: 'detached' })
    for (const keys of ['Shift+ArrowLeft', 'Shift+ArrowLeft', 'Shift+ArrowRight']) await page.keyboard.press(keys)
    await page.keyboard.press('Enter')
    await page.waitForURL(/from=\d+&to=\d+/)
    const [start, end] = rangeOf(page)
    expect(end - start).toBe(2 * step - 1)
  })

  test('can be read as a table', async () => {
    await using visit = await site.visit({ as: rootAccount, language: 'zh' })
    const { page } = visit
    await visit.open('/log?type=2')
    const figure = page.getByRole('figure').first()
    await figure.getByRole('button', { name: '以表格显示' }).click()
    await eventually(() => figure.locator('tbody tr').count()).toBeGreaterThanOrEqual(days)
  })
})

test('a chart is saved as an image, with its title and legend', async () => {
  await using visit = await site.visit({ as: rootAccount, theme: 'dark' })
  const { page } = visit
  await visit.open('/usage?group=model')
  await page.getByRole('figure').getByRole('img').waitFor()
  const saving = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Save as image' }).click()
  const download = await saving
  expect(download.suggestedFilename()).toBe('Spend by day.png')
  const bytes = new Uint8Array(await Bun.file(await download.path()).arrayBuffer())
  // The PNG header contains width and height. The colours prove that shapes were drawn, not only the background.
  const header = new DataView(bytes.buffer)
  const box = await page.getByRole('figure').getByRole('img').boundingBox()
  expect(header.getUint32(16)).toBe(Math.round(((box?.width ?? 0) + 32) * 2))
  const colours = await page.evaluate(async (picture) => {
    const image = await createImageBitmap(new Blob([Uint8Array.from(atob(picture), (letter) => letter.charCodeAt(0))]))
    const canvas = new OffscreenCanvas(image.width, image.height)
    const context = canvas.getContext('2d')
    context?.drawImage(image, 0, 0)
    const { data } = context?.getImageData(0, 0, image.width, image.height) ?? { data: [] }
    const found = new Map<number, number>()
    for (let at = 0; at < data.length; at += 4) {
      const colour = ((data[at] ?? 0) << 16) | ((data[at + 1] ?? 0) << 8) | (data[at + 2] ?? 0)
      found.set(colour, (found.get(colour) ?? 0) + 1)
    }
    return [...found.values()].filter((count) => count > 500).length
  }, Buffer.from(bytes).toString('base64'))
  // At least the background and two models have different colours.
  expect(colours).toBeGreaterThanOrEqual(3)
})

test('the ranking shows how each group compares with the previous period', async () => {
  await using visit = await site.visit({ as: rootAccount })
  const { page } = visit
  await visit.open('/usage?range=7d&metric=requests')
  const changes = page.getByRole('table', { name: 'Ranking' }).locator('td[data-label="Change"] span')
  // Today has no calls yet. Each of the two models has three calls in the last six days. In the seven days before, one
  // model had four calls and the other had three.
  await eventually(async () => (await changes.allTextContents()).sort()).toEqual(['-25%', '0%'])
  const inWords = await changes.evaluateAll((cells) => cells.map((cell) => cell.getAttribute('title')).sort())
  expect(inWords).toEqual(['$0.00 compared with the previous period', '-$0.001200 compared with the previous period'])
})

describe('filtering the usage page', () => {
  const requests = (page: Page) =>
    page
      .locator('main p', { hasText: /^Requests$/ })
      .locator('+ p')
      .textContent()

  test('the button of a row filters by its model, and each row links to the logs of its calls', async () => {
    await using visit = await site.visit({ as: rootAccount })
    const { page } = visit
    await visit.open('/usage')
    await eventually(() => requests(page)).toBe(String(days))
    await page.getByRole('button', { name: 'Show only this: gpt-4o', exact: true }).click()
    // The row with the clicked button has disappeared. The focus has not left the main part of the page.
    expect(await page.evaluate(() => document.activeElement?.closest('main') !== null)).toBe(true)
    await page.waitForURL(
      ({ searchParams }) => searchParams.get('model') === 'gpt-4o' && searchParams.get('group') === 'token',
    )
    await eventually(() => requests(page)).toBe(String(days / 2))
    await page.getByRole('button', { name: 'Model is gpt-4o', exact: true }).waitFor()
    // Only one of the two tokens called this model.
    await eventually(() => page.getByRole('link', { name: /^Logs of token/ }).allTextContents()).toEqual(['token 1'])
    await page
      .getByRole('status')
      .filter({ hasText: /^Spend from .* in total\.$/ })
      .waitFor({ state: 'attached' })
    await page.getByRole('link', { name: 'Logs of token 1', exact: true }).click()
    await page.waitForURL('**/log?**')
    const { searchParams } = new URL(page.url())
    expect([searchParams.get('model'), searchParams.get('token')]).toEqual(['gpt-4o', 'token 1'])
    await page.getByText(new RegExp(`· ${days / 2} rows$`)).waitFor()
    await page.goBack()
    await page.getByRole('link', { name: 'Logs of token 1', exact: true }).waitFor()
    await page.goBack()
    await eventually(() => facet(page, 'Model').textContent()).toBe('Model')
    await eventually(() => requests(page)).toBe(String(days))
  })

  test('a name that is not suggested can be typed; if nothing matches, the filters can be cleared', async () => {
    await using visit = await site.visit({ as: rootAccount })
    const { page } = visit
    await visit.open('/usage?channel=the+second')
    await eventually(() => requests(page)).toBe(String(days))
    await chooseFacet(page, 'Token', 'token 0')
    await page.waitForURL((url) => url.searchParams.get('token') === 'token 0')
    await eventually(() => requests(page)).toBe(String(days / 2))
    await chooseFacet(page, 'User', 'nobody')
    await page.getByText('No matching usage in this period').waitFor()
    await page.getByRole('button', { name: 'Clear filters' }).last().click()
    await page.waitForURL((url) => ['token', 'user'].every((name) => !url.searchParams.has(name)))
    await eventually(() => requests(page)).toBe(String(days))
    await eventually(() => facet(page, 'Token').textContent()).toBe('Token')
  })

  test('the bars of a custom time range have a suitable length: one hour is offered only for ranges of up to forty days', async () => {
    await using visit = await site.visit({ as: rootAccount })
    const { page } = visit
    await visit.open('/usage?range=90d&rollup=hour')
    await page.getByRole('figure', { name: 'Spend by day' }).waitFor()
    const choices = () => page.getByLabel('Interval').locator('option').allTextContents()
    expect(await choices()).toEqual(['Day', 'Week', 'Month'])
    const midnight = Math.floor(Date.now() / 1000 / day) * day
    await visit.open(`/usage?range=custom&from=${midnight - 10 * day}&to=${midnight}`)
    await page.getByRole('figure', { name: 'Spend by day' }).waitFor()
    expect(await choices()).toEqual(['Hour', 'Day', 'Week', 'Month'])
    await eventually(() => requests(page)).toBe('10')
    await page.getByLabel('Interval').selectOption('hour')
    await page.getByRole('figure', { name: 'Spend by hour' }).waitFor()
    await page.getByText('Last 7 days', { exact: true }).click()
    await page.waitForURL((url) => url.search === '?range=7d')
    await visit.open(`/usage?range=custom&from=${midnight + 10 * day}`)
    await page.getByText('End must be after start').waitFor()
    await visit.open('/usage?range=custom&from=9000000000000')
    await eventually(() => requests(page)).toBe(String(days))
  })

  test('calls that broke off have a separate metric', async () => {
    await using visit = await site.visit({ as: rootAccount })
    await visit.open('/usage?metric=failed')
    await visit.page.getByRole('figure', { name: 'Failed by day' }).waitFor()
    const row = visit.page
      .locator('main tr')
      .filter({ has: visit.page.getByRole('link', { name: 'Logs of gpt-4o', exact: true }) })
    await eventually(() => row.locator('td[data-label="Failed"]').textContent()).toBe('1 (10.0%)')
  })

  test('the link on the log page opens the usage page with the same filters', async () => {
    await using visit = await site.visit({ as: rootAccount })
    const { page } = visit
    await visit.open('/log?model=gpt-4o&token=token+1&from=7d')
    await page.getByRole('link', { name: 'View usage' }).click()
    await page.waitForURL((url) => url.pathname.endsWith('/usage'))
    expect(Object.fromEntries(new URL(page.url()).searchParams)).toEqual({
      range: '7d',
      model: 'gpt-4o',
      token: 'token 1',
    })
    await page.getByRole('link', { name: 'Logs of gpt-4o', exact: true }).waitFor()
  })

  test('users who are not administrators cannot filter by account or channel', async () => {
    await using visit = await site.visit({ as: await site.addUser('somebody') })
    const { page } = visit
    await visit.open('/usage?user=root&channel=1')
    await page.getByText('No usage in this period').waitFor()
    await facet(page, 'Model').waitFor()
    expect(await facet(page, 'User').count()).toBe(0)
    expect(await facet(page, 'Channel').count()).toBe(0)
    expect(visit.calls().filter((call) => call.includes('/api/usage/') && /username|channel/.test(call))).toEqual([])
  })
})

test('a view of the usage page is saved under a name and can be restored', async () => {
  await using visit = await site.visit({ as: rootAccount })
  const { page } = visit
  await visit.open('/usage?metric=requests&group=token&range=7d')
  await page.getByRole('button', { name: 'Saved views' }).click()
  await page.getByLabel('View name').fill('my week')
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await page.getByRole('button', { name: 'my week', exact: true }).waitFor()
  await visit.open('/usage?cumulative=1')
  await page.getByRole('button', { name: 'Saved views' }).click()
  await page.getByRole('button', { name: 'my week', exact: true }).click()
  await page.waitForURL((url) => url.search === '?metric=requests&group=token&range=7d')
  await page.getByRole('button', { name: 'Delete view my week' }).click()
  await page.getByText('No saved views').waitFor()
})
