import type { Page } from 'playwright-core'
import type { Console } from './console.ts'
import { rootAccount as root } from './console.ts'
import { openDatabase } from './database.ts'
import { person, type Screen } from './screen.ts'
import { failed, popup } from './screen-steps.ts'

const list = (page: Page) => page.locator('main ul > li').first().waitFor()
/** Opens the drawer for a new rule or, on the tab with destinations, for a new destination. */
const drawer = (nth: 'first' | 'last') => async (page: Page) => {
  await list(page)
  await page.locator('main button:has(.lucide-plus)')[nth]().click()
  await popup(page)
  await page.getByRole('dialog').locator('form').waitFor()
}

/** The page with alerts. */
export const alertScreens: readonly Screen[] = [
  { path: '/alert', as: root, prepare: list },
  { path: '/alert', state: 'empty', as: person, bare: true, prepare: list },
  { path: '/alert', state: 'empty, of the installation', as: root, bare: true, prepare: list },
  { path: '/alert', state: 'failed', as: root, fails: '**/api/alert/rule', prepare: failed },
  { path: '/alert', state: 'with the rule editor', as: root, prepare: drawer('first') },
  { path: '/alert?tab=destinations', as: root, prepare: list },
  {
    path: '/alert?tab=destinations',
    state: 'empty',
    as: person,
    bare: true,
    prepare: (page) => page.locator('main button:has(.lucide-plus)').nth(1).waitFor(),
  },
  { path: '/alert?tab=destinations', state: 'failed', as: root, fails: '**/api/alert/destination', prepare: failed },
  {
    path: '/alert?tab=destinations',
    state: 'with the destination editor',
    as: root,
    async prepare(page) {
      await drawer('last')(page)
      await page.getByRole('dialog').locator('select').selectOption('telegram')
    },
  },
  { path: '/alert?tab=history', as: root, prepare: list },
  {
    path: '/alert?tab=history',
    state: 'empty',
    as: person,
    bare: true,
    prepare: (page) => page.locator('main nav + div p').first().waitFor(),
  },
  { path: '/alert?tab=history', state: 'failed', as: root, fails: '**/api/alert/history**', prepare: failed },
]

/** Creates rules and destinations, and messages of each kind. */
export async function fillAlerts(site: Console): Promise<void> {
  const hook = { kind: 'webhook', name: 'On-call', url: 'http://127.0.0.1:9/hook' }
  const { id } = await site.api<{ id: number }>('POST', '/api/alert/destination', hook)
  await site.api('POST', '/api/alert/destination', { kind: 'mail', name: 'Operations', to: 'ops@example.com' })
  const rules = [
    { kind: 'error_rate', name: 'Failed requests', threshold: 10, min_calls: 1_000_000, destinations: [id] },
    { kind: 'daily_spend', name: 'Spend of a day', threshold: 50_000_000, enabled: false },
    { kind: 'channel_error_rate', name: 'A channel of the research department', threshold: 20, min_calls: 1_000_000 },
  ]
  const made: { id: number }[] = []
  for (const rule of rules) made.push(await site.api<{ id: number }>('POST', '/api/alert/rule', rule))
  using database = openDatabase(site)
  const now = Math.floor(Date.now() / 1000)
  const [first] = made
  database.run(`update alert_destinations set last_time = ${now - 90}, last_error = 'The service cannot be reached.'
    where id = ${id}`)
  database.run(`insert into alert_states (rule_id, target, name, since, value, sent_at)
    values (${first?.id ?? 0}, 'channel 2', 'Azure west', ${now - 300}, 12, ${now})`)
  const deliveries = { firing: 'sent', reminder: 'failed', resolved: 'held' }
  for (const [event, status] of Object.entries(deliveries)) {
    const { lastInsertRowid } = database.run(`insert into alert_events (rule_id, rule_name, event, target, title, text,
      created_at) values (1, 'Failed requests', '${event}', 'Azure west', 'Firing: Failed requests',
      '12.5% of the requests fail. The limit is 10%.', ${now - 600})`)
    database.run(`insert into alert_deliveries (event_id, destination_id, destination, kind, status, attempts, next_at,
      error) values (${lastInsertRowid}, ${id}, 'On-call', 'webhook', '${status}', 5, ${now + 86_400},
      '${status === 'failed' ? 'The service answered with status 503' : ''}')`)
  }
}
