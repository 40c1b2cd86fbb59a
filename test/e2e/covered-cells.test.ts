// The buttons at the end of each row stay visible when a list is wider than its page, and then cover other cells. These
// tests check that no cell is covered at the screen widths of common laptops.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import type { FakeUpstream } from '../helpers/fake-upstream.ts'
import { openConsole, rootAccount } from './support/console.ts'
import { rowsOf } from './support/lists.ts'
import { fillForScreens } from './support/screens-data.ts'

const site = openConsole()
let upstream: FakeUpstream
beforeAll(async () => {
  upstream = await fillForScreens(site)
  const soon = Math.floor(Date.now() / 1000) + 86_400
  const token = { name: 'a name of thirty characters ...', remain_quota: 123_456_789, expired_time: soon }
  await site.apiAs(rootAccount, 'POST', '/api/token/', { ...token, name: token.name.slice(0, 30), project: 'Search' })
  const [channel] = await site.api<{ id: number }[]>('GET', '/api/channel/?p=0')
  await site.api('PUT', '/api/channel/', { id: channel?.id, group: 'default,vip,svip,research,support' })
  await site.api('POST', '/api/capture/rule/', { target: 'user', target_id: 1, until: soon, size_limit: 65_536 })
}, 300_000)
afterAll(() => upstream.close())

const lists = [
  '/token',
  '/channel',
  '/user',
  '/redemption',
  '/redemption/batches',
  '/log',
  '/recording',
  '/budget',
  '/alert',
  '/alert?tab=destinations',
  '/alert?tab=history',
  '/model',
  '/setting?tab=audit',
]

/**
 * The texts of cells that are partly behind the buttons of their row, and of headings that extend beyond the edge of
 * the list.
 */
function coveredCells(page: Page): Promise<string[]> {
  return page.evaluate(() =>
    [...document.querySelectorAll<HTMLElement>('.data-table')].flatMap((table) => {
      const edge = table.closest('.table-scroll, section')?.getBoundingClientRect().right ?? Number.POSITIVE_INFINITY
      return [...table.querySelectorAll('tr')].flatMap((row) => {
        const actions = row.querySelector('.actions-cell')
        const limit = Math.min(edge, actions?.getBoundingClientRect().left ?? edge)
        return [...row.querySelectorAll('td, th')].flatMap((cell) => {
          if (cell === actions || (cell.textContent ?? '').trim() === '') return []
          const content = document.createRange()
          content.selectNodeContents(cell)
          const { right } = content.getBoundingClientRect()
          // If the content is truncated, its visible part ends at the edge of its cell.
          const end = Math.min(right, cell.getBoundingClientRect().right)
          return end > limit + 1 ? [`${cell.textContent} (${Math.round(end - limit)} px)`] : []
        })
      })
    }),
  )
}

for (const width of [1366, 1280])
  for (const language of ['en', 'ja'] as const)
    test(`no cell of any list is behind the buttons of its row, at ${width} px, in ${language}`, async () => {
      await using visit = await site.visit({ as: rootAccount, width, height: 768, language })
      const { page } = visit
      const found: Record<string, string[]> = {}
      for (const path of lists) {
        await visit.open(path)
        await page.waitForFunction(() => document.querySelector('main .skeleton') === null)
        if ((await page.locator('.data-table').count()) === 0) continue
        await rowsOf(page).first().waitFor()
        const covered = await coveredCells(page)
        if (covered.length > 0) found[path] = covered
      }
      expect(found).toEqual({})
    })
