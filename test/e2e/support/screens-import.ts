import type { Page } from 'playwright-core'
import { rootAccount as root } from './console.ts'
import type { Screen } from './screen.ts'
import { failed } from './screen-steps.ts'

const run = {
  ...{ id: 1, state: 'running', dry_run: false, source: 'mysql://10.0.0.5:3306/oneapi', merge: false, only: [] },
  ...{ since: 0, started_by: 'root', created_at: 1_790_000_000, finished_at: 0, stage: 'logs', done: 250_000 },
  ...{ total: 1_000_000, per_second: 31_000, error: '', can_continue: false, has_leftovers: false },
}
const report = {
  ...{ program: 'new-api', version: '0.x', source: run.source, dryRun: true, mode: 'empty' },
  added: { users: 7, tokens: 12, channels: 9, codes: 4, logs: 1_000_000 },
  sums: [
    { name: 'users', there: 7, corrected: 0, here: 7 },
    { name: 'balances of users', there: -5, corrected: 5, here: 0 },
  ],
  options: [{ key: 'ModelRatio', from: '{}', to: '{"gpt-4o":7}' }],
  prices: [{ model: 'gpt-4o', theirs: '$14 / $14', ours: '$2.5 / $10', differs: true }],
  findings: [{ kind: 'users', text: 'The name is taken.', count: 9, examples: ['mia → mia-import'] }],
  ...{ leftoversFile: '', leftovers: 3, changedMeanwhile: true, seconds: 1 },
}

/** Makes the page show an import with the given state, as if the server had returned it. */
async function shows(page: Page, change: object): Promise<void> {
  const answer = (data: unknown) => ({ json: { success: true, message: '', data } })
  await page.route('**/api/import/', (route) => route.fulfill(answer([{ ...run, ...change }])))
  await page.route('**/api/import/1/report', (route) => route.fulfill(answer(report)))
  await page.reload()
}

/** The page that imports from other programs. */
export const importScreens: readonly Screen[] = [
  { path: '/import?new=1', as: root, prepare: (page) => page.locator('[name="address"]').waitFor() },
  { path: '/import', state: 'failed', as: root, fails: '**/api/import/', prepare: failed },
  {
    path: '/import',
    state: 'running',
    as: root,
    async prepare(page) {
      await shows(page, {})
      await page.locator('progress').waitFor()
    },
  },
  {
    path: '/import',
    state: 'checked',
    as: root,
    async prepare(page) {
      await shows(page, { state: 'done', dry_run: true, can_continue: true, has_leftovers: true })
      await page.locator('main table').first().waitFor()
    },
  },
  {
    path: '/import',
    state: 'interrupted',
    as: root,
    async prepare(page) {
      await shows(page, { state: 'interrupted', can_continue: true, error: 'The source cannot be read.' })
      await page.locator('main [role="status"]').first().waitFor()
    },
  },
]
