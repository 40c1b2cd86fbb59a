/**
 * Measures the console in a real Chromium against its budgets, with 1,000 channels, 5,000 users and 10,000 log rows:
 * `npm run bench:console`. With `-- --work`, it measures only typing and sorting. Exits with 1 if a budget is exceeded.
 */
import type { CDPSession, Page } from 'playwright-core'
import { onlySpecifiedCalls } from '../../test/e2e/support/classic.ts'
import { Console, rootAccount, type Visit } from '../../test/e2e/support/console.ts'
import { fillWithMany } from '../../test/e2e/support/many-rows.ts'

const rounds = 5
const pages = [
  { path: '/login', budgetMs: 250 },
  { path: '/', budgetMs: 350 },
  { path: '/token', budgetMs: 350 },
  { path: '/channel', budgetMs: 350 },
  { path: '/user', budgetMs: 350 },
  { path: '/log', budgetMs: 350 },
  { path: '/usage', budgetMs: 350 },
  { path: '/channel/add', budgetMs: 350 },
]
/** A slow phone on a slow connection. */
const slow = { cpu: 4, bytesPerSecond: 200_000, latencyMs: 150 }
const budgets = {
  wholeMs: 800,
  slowMs: 2000,
  slowWholeMs: 3500,
  blockedMs: 150,
  shift: 0.02,
  longTaskMs: 50,
  interactionMs: 100,
}

const faults: string[] = []
const percentile = (values: readonly number[], part: number) =>
  [...values].sort((a, b) => a - b)[Math.ceil(values.length * part) - 1] ?? 0
const median = (values: readonly number[]) => percentile(values, 0.5)

function report(what: string, value: number, budget: number, unit: string): void {
  const kept = value <= budget
  const shown = unit === '' ? value.toFixed(4) : `${Math.round(value)} ${unit}`
  console.log(`${kept ? 'ok  ' : 'OVER'} ${what.padEnd(64)} ${shown.padStart(9)}  (at most ${budget} ${unit})`)
  if (!kept) faults.push(what)
}

/** Records the page's performance entries, starting before the page's first script runs. */
async function watch(page: Page): Promise<void> {
  await page.addInitScript(() => {
    const seen = { lcp: 0, complete: 0, shift: 0, blocked: 0, longest: 0, interactions: [] as number[] }
    Object.assign(window, { seen })
    // True once the page itself is shown, not just its frame, and nothing is still loading.
    const whole = () => document.querySelector('main h1') && !document.querySelector('.skeleton')
    new MutationObserver((_, observer) => {
      if (!whole()) return
      observer.disconnect()
      requestAnimationFrame(() => {
        seen.complete = performance.now()
      })
    }).observe(document, { subtree: true, childList: true })
    type Seen = PerformanceEntry & { value?: number; hadRecentInput?: boolean; interactionId?: number }
    const on = (type: string, take: (entry: Seen) => void) =>
      new PerformanceObserver((list) => list.getEntries().forEach(take)).observe({
        type,
        buffered: true,
        ...(type === 'event' && { durationThreshold: 16 }),
      } as PerformanceObserverInit)
    on('largest-contentful-paint', (entry) => {
      seen.lcp = entry.startTime
    })
    on('layout-shift', (entry) => {
      if (!entry.hadRecentInput) seen.shift += entry.value ?? 0
    })
    on('longtask', (entry) => {
      seen.longest = Math.max(seen.longest, entry.duration)
      seen.blocked += Math.max(0, entry.duration - 50)
    })
    on('event', (entry) => {
      // Entries without an interaction ID, such as the pointer passing over elements, are not interactions.
      if (entry.interactionId) seen.interactions.push(entry.duration)
    })
  })
}

interface Seen {
  lcp: number
  /** The time until the page was complete, including its rows, in milliseconds. */
  complete: number
  shift: number
  blocked: number
  longest: number
  /** The time from each press, release or click to the next paint. */
  interactions: number[]
}

const seenBy = (page: Page) =>
  page.evaluate(async () => {
    await new Promise((done) => setTimeout(done, 100))
    return (window as unknown as { seen: Seen }).seen
  })

async function settle(page: Page): Promise<void> {
  await page.locator('h1').first().waitFor()
  await page.waitForFunction(() => document.querySelector('.skeleton') === null)
  await page.waitForLoadState('networkidle')
}

async function throttle(session: CDPSession): Promise<void> {
  await session.send('Emulation.setCPUThrottlingRate', { rate: slow.cpu })
  await session.send('Network.emulateNetworkConditions', {
    offline: false,
    latency: slow.latencyMs,
    downloadThroughput: slow.bytesPerSecond,
    uploadThroughput: slow.bytesPerSecond,
  })
}

async function loadOnce(site: Console, path: string, throttled: boolean): Promise<Seen> {
  await using visit = await site.visit(path === '/login' ? {} : { as: rootAccount })
  const { page } = visit
  page.setDefaultTimeout(60_000)
  await watch(page)
  const session = await visit.context.newCDPSession(page)
  await session.send('Network.enable')
  // The visit has already loaded a file from the server. The cache is cleared so that nothing cached speeds up the
  // load.
  await session.send('Network.clearBrowserCache')
  if (throttled) await throttle(session)
  // The page is not queried while it loads, because queries would slow it down.
  await page.goto(path, { waitUntil: 'networkidle' })
  await settle(page)
  // `await` makes sure that the entries are read before the visit ends.
  return await seenBy(page)
}

async function measureLoads(site: Console): Promise<void> {
  for (const throttled of [false, true]) {
    for (const { path, budgetMs } of pages) {
      const seen: Seen[] = []
      for (let round = 0; round < rounds; round++) seen.push(await loadOnce(site, path, throttled))
      const name = throttled ? `${path}, 4 × slower, 1.6 Mbit/s, 150 ms` : path
      report(`largest paint ${name}`, median(seen.map(({ lcp }) => lcp)), throttled ? budgets.slowMs : budgetMs, 'ms')
      const whole = seen.map(({ complete }) => complete || Number.POSITIVE_INFINITY)
      report(`whole page ${name}`, median(whole), throttled ? budgets.slowWholeMs : budgets.wholeMs, 'ms')
      report(`layout shift ${name}`, Math.max(...seen.map(({ shift }) => shift)), budgets.shift, '')
      if (throttled) report(`blocked ${name}`, median(seen.map(({ blocked }) => blocked)), budgets.blockedMs, 'ms')
    }
  }
}

/**
 * Opens a list and loads all its 1,000 rows into the browser. For this, the server behaves like one-api and sends no
 * row count. The console then loads the list page by page and appends the pages.
 */
async function openWholeList(site: Console): Promise<Visit> {
  const visit = await site.visit({ as: rootAccount })
  const { page } = visit
  page.setDefaultTimeout(120_000)
  await watch(page)
  await onlySpecifiedCalls(page)
  await page.goto('/channel?page=100')
  await settle(page)
  await page.getByRole('columnheader', { name: 'Response time' }).getByRole('button').click()
  await page.getByText('Sorting 1,000 loaded rows').waitFor()
  await page.evaluate(() => {
    const { seen } = window as unknown as { seen: Seen }
    seen.longest = 0
  })
  return visit
}

async function measureWork(site: Console): Promise<void> {
  {
    await using visit = await openWholeList(site)
    await visit.page.getByLabel('Search by ID or name').pressSequentially('channel 99', { delay: 30 })
    report('longest task, typing over 1,000 rows', (await seenBy(visit.page)).longest, budgets.longTaskMs, 'ms')
  }
  {
    await using visit = await openWholeList(site)
    for (const column of ['Name', 'Balance', 'Response time'])
      await visit.page.getByRole('columnheader', { name: column, exact: true }).getByRole('button').click()
    report('longest task, sorting 1,000 rows', (await seenBy(visit.page)).longest, budgets.longTaskMs, 'ms')
  }
  const answers: number[] = []
  for (let round = 0; round < rounds; round++) answers.push(...(await clickThrough(site)))
  report(
    'answer to a click (sort, page, drawer), p95, 4 × slower',
    percentile(answers, 0.95),
    budgets.interactionMs,
    'ms',
  )
}

/**
 * Sorts twice, goes to the next page and opens a drawer. Returns how many milliseconds each click took to show its
 * effect.
 */
async function clickThrough(site: Console): Promise<number[]> {
  await using visit = await site.visit({ as: rootAccount })
  const { page } = visit
  await watch(page)
  await page.goto('/channel')
  await settle(page)
  const session = await visit.context.newCDPSession(page)
  await session.send('Emulation.setCPUThrottlingRate', { rate: slow.cpu })
  const answers: number[] = []
  const measured = async (click: Promise<void>) => {
    await click
    await settle(page)
    const { interactions } = await seenBy(page)
    answers.push(Math.max(0, ...interactions))
    await page.evaluate(() => (window as unknown as { seen: Seen }).seen.interactions.splice(0))
  }
  for (const name of ['Name', 'Balance', 'Next page'])
    await measured(page.getByRole('button', { name, exact: true }).click())
  await measured(page.getByRole('rowheader').first().click())
  return answers
}

const site = new Console()
await site.start()
try {
  const channel = { type: 8, key: 'k', models: 'gpt-4o', group: 'default', base_url: 'http://127.0.0.1:1' }
  await site.api('POST', '/api/channel/', { ...channel, name: 'channel 0' })
  for (let n = 1; n <= 12; n++) {
    const token = { name: `token ${n}`, remain_quota: n, unlimited_quota: false, expired_time: -1 }
    await site.api('POST', '/api/token/', token)
  }
  fillWithMany(site, { channels: 999, users: 5000, logs: 10_000 })
  if (!process.argv.includes('--work')) await measureLoads(site)
  await measureWork(site)
} finally {
  await site.stop()
}
console.log(faults.length === 0 ? 'All budgets are kept.' : `${faults.length} over budget.`)
process.exit(faults.length === 0 ? 0 : 1)
