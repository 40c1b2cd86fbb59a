import type { Page } from 'playwright-core'
import { refuseClipboard } from './clipboard.ts'
import { rootAccount } from './console.ts'
import { seededRequest } from './log-rows.ts'
import { person, type Screen } from './screen.ts'
import {
  chooseFromEnd,
  drawer,
  drawerList,
  empty,
  failed,
  field,
  menu,
  openList,
  opens,
  popup,
  refuse,
  rows,
  select,
} from './screen-steps.ts'
import { alertScreens } from './screens-alert.ts'
import { budgetScreens } from './screens-budget.ts'
import { importScreens } from './screens-import.ts'
import { modelScreens } from './screens-model.ts'
import { openPages, waysIn } from './screens-open.ts'
import { playground } from './screens-playground.ts'
import { recording } from './screens-recording.ts'
import { statementScreens } from './screens-statement.ts'
import { usageScreens } from './screens-usage.ts'
import { virtualModelScreens } from './screens-virtual.ts'

const root = rootAccount

const channel: Screen[] = [
  { path: '/channel', as: root, prepare: rows },
  { path: '/channel', state: 'empty', as: root, bare: true, prepare: empty },
  { path: '/channel', state: 'failed', as: root, fails: '**/api/channel/?*', prepare: failed },
  { path: '/channel?q=nothing', state: 'found nothing', as: root, prepare: empty },
  { path: '/channel?type=999&status=2&group=none', state: 'filtered to nothing', as: root, prepare: empty },
  {
    path: '/channel?status=1',
    state: 'with the filters',
    as: root,
    only: 'narrow',
    async prepare(page) {
      await rows(page)
      await page.locator('main [role="group"] > button[aria-expanded]').click()
      await page.locator('[role="dialog"] select').first().waitFor()
    },
  },
  { path: '/channel', state: 'with a menu', as: root, prepare: menu },
  {
    path: '/channel',
    state: 'with the columns',
    as: root,
    async prepare(page) {
      await rows(page)
      await page
        .locator(
          'main button[aria-haspopup="dialog"]:has(.lucide-columns-3, .lucide-settings-2, .lucide-sliders-horizontal)',
        )
        .first()
        .click()
      await page.locator('[role="dialog"]').waitFor()
    },
  },
  { path: '/channel', state: 'with a selection', as: root, prepare: select },
  {
    path: '/channel',
    state: 'with the dialog for several',
    as: root,
    async prepare(page) {
      await select(page)
      await page.locator('main section.sticky button').nth(3).click()
      await popup(page)
    },
  },
  { path: '/channel', state: 'with a question', as: root, prepare: chooseFromEnd(1) },
  { path: '/channel?peek=1', state: 'with a drawer', as: root, prepare: drawer },
  { path: '/channel?view=board', as: root, prepare: (page) => page.locator('main tbody tr').first().waitFor() },
  {
    path: '/channel?view=board&cards=1',
    as: root,
    prepare: (page) => page.locator('main li button').first().waitFor(),
  },
  { path: '/channel?view=board', state: 'failed', as: root, fails: '**/api/channel/health', prepare: failed },
  { path: '/channel?view=board', state: 'empty', as: root, bare: true },
  { path: '/channel?view=models', as: root, prepare: (page) => page.locator('main tbody tr').first().waitFor() },
  { path: '/channel?view=models', state: 'empty', as: root, bare: true },
  { path: '/channel/add', as: root, prepare: field('name') },
  { path: '/channel/add', state: 'refused', as: root, prepare: refuse },
  {
    path: '/channel/add',
    state: 'with a failed test of its key, and everything unfolded',
    as: root,
    async prepare(page) {
      await field('name')(page)
      await page.locator('[data-field="key"] input').fill('k')
      await page.locator('[data-field="base_url"] input').fill('http://127.0.0.1:9')
      await page.locator('fieldset').nth(1).getByRole('button').last().click()
      await page.locator('form [role="alert"]').waitFor()
      await page.locator('form button[aria-expanded="false"][aria-controls]').click()
    },
  },
  { path: '/channel/add', state: 'with the list of a select box', as: root, prepare: openList('[name="key_use"]') },
  { path: '/channel/edit/1', as: root, prepare: field('name') },
  { path: '/channel/edit/999', state: 'not there', as: root, prepare: failed },
]

const token: Screen[] = [
  { path: '/token', as: root, prepare: rows },
  { path: '/token', state: 'empty', as: person, bare: true, prepare: empty },
  { path: '/token', state: 'failed', as: root, fails: '**/api/token/?*', prepare: failed },
  { path: '/token', state: 'with a menu', as: root, prepare: menu },
  { path: '/token', state: 'with a question', as: root, prepare: chooseFromEnd(1) },
  {
    path: '/token',
    state: 'rotating a key',
    as: root,
    prepare: async (page) => {
      await chooseFromEnd(2)(page)
      await page.getByRole('radio').first().waitFor()
    },
  },
  {
    path: '/token',
    state: 'with keys to copy by hand',
    as: root,
    async prepare(page) {
      await refuseClipboard(page)
      await page.reload()
      await select(page)
      await page.locator('main section.sticky button').nth(2).click()
      await popup(page)
    },
  },
  {
    path: '/token?peek=1',
    state: 'with a drawer',
    as: root,
    prepare: (page) => page.getByRole('dialog').locator('pre').first().waitFor(),
  },
  {
    path: '/token?peek=999',
    state: 'with a drawer of nothing',
    as: root,
    prepare: (page) => page.getByRole('dialog').getByRole('alert').waitFor(),
  },
  {
    path: '/token?start=1',
    state: 'just made',
    as: root,
    prepare: (page) => page.getByRole('dialog').locator('pre').first().waitFor(),
  },
  {
    path: '/token?qr=1',
    state: 'with a QR code',
    as: root,
    prepare: (page) => page.getByRole('dialog').locator('svg[role="img"]').waitFor(),
  },
  { path: '/token/add', as: root, prepare: field('name') },
  { path: '/token/add', state: 'refused', as: root, prepare: refuse },
  { path: '/token/edit/1', as: root, prepare: field('name') },
  { path: '/token/edit/999', state: 'not there', as: root, prepare: failed },
]

const redemption: Screen[] = [
  { path: '/redemption', as: root, prepare: rows },
  { path: '/redemption', state: 'empty', as: root, bare: true, prepare: empty },
  { path: '/redemption/batches', state: 'empty', as: root, bare: true, prepare: empty },
  { path: '/redemption?status=2&q=nothing', state: 'filtered to nothing', as: root, prepare: empty },
  { path: '/redemption', state: 'failed', as: root, fails: '**/api/redemption/?*', prepare: failed },
  { path: '/redemption', state: 'with a question', as: root, prepare: chooseFromEnd(1) },
  { path: '/redemption/add', as: root, prepare: field('name') },
  { path: '/redemption/add', state: 'refused', as: root, prepare: refuse },
  {
    path: '/redemption/add',
    state: 'just made',
    as: root,
    bare: true,
    async prepare(page) {
      await page.locator('[name="name"]').fill('spring')
      await page.locator('main button[type="submit"]').click()
      await page.locator('main textarea').waitFor()
    },
  },
  { path: '/redemption?batch=spring', state: 'of a batch', as: root, prepare: rows },
  { path: '/redemption/batches', as: root, prepare: rows },
  { path: '/redemption/batches', state: 'failed', as: root, fails: '**/api/redemption/batches?*', prepare: failed },
  {
    path: '/redemption/sheet?batch=spring',
    as: root,
    prepare: (page) => page.locator('main li svg').first().waitFor(),
  },
  { path: '/redemption/sheet?batch=nothing', state: 'empty', as: root, prepare: empty },
  { path: '/redemption/sheet?batch=spring', state: 'failed', as: root, fails: '**/api/redemption/?*', prepare: failed },
  { path: '/redemption/edit/1', as: root, prepare: field('name') },
  { path: '/redemption/edit/999', state: 'not there', as: root, prepare: failed },
  { path: '/topup', as: root, prepare: (page) => page.locator('main table, main li').first().waitFor() },
  { path: '/topup', state: 'empty', as: person, bare: true },
  {
    path: '/topup',
    state: 'refused',
    as: root,
    async prepare(page) {
      await page.locator('main textarea').fill('no-such-code')
      await page.locator('main button[type="submit"]').click()
      await page.locator('[data-toast="error"]').first().waitFor()
    },
  },
]

const user: Screen[] = [
  { path: '/user', as: root, prepare: rows },
  { path: '/user?q=nothing', state: 'found nothing', as: root, prepare: empty },
  { path: '/user', state: 'failed', as: root, fails: '**/api/user/?*', prepare: failed },
  { path: '/user', state: 'with a question', as: root, prepare: chooseFromEnd(1) },
  { path: '/user?peek=2', state: 'with a drawer', as: root, prepare: drawer },
  { path: '/user?peek=1&tab=tokens', state: 'with the tokens of a user', as: root, prepare: drawerList },
  { path: '/user?peek=1&tab=sessions', state: 'with the sessions of a user', as: root, prepare: drawerList },
  {
    path: '/log?request=20260101000000000000000000000000',
    state: 'with a request that is not there',
    as: root,
    prepare: (page) => page.getByRole('dialog').locator('[role="status"] *').first().waitFor(),
  },
  { path: '/user/add', as: root, prepare: field('username') },
  { path: '/user/add', state: 'refused', as: root, prepare: refuse },
  { path: '/user/edit/2', as: root, prepare: field('username') },
  { path: '/user/edit/999', state: 'not there', as: root, prepare: failed },
  { path: '/user/edit', as: root, prepare: field('username') },
]

const log: Screen[] = [
  { path: '/log', as: root, prepare: rows },
  { path: '/log?mine=1', state: 'of one person', as: root, prepare: rows },
  { path: '/log', state: 'empty', as: person, bare: true, prepare: empty },
  { path: '/log?model=nothing&from=0', state: 'found nothing', as: root, prepare: empty },
  {
    path: '/log?type=2&not_model=gpt-4o&not_model=o3',
    state: 'with a facet',
    as: root,
    only: 'wide',
    async prepare(page) {
      await rows(page)
      await page.locator('main [role="group"] button[aria-haspopup="dialog"]').nth(1).click()
      await page.locator('[role="dialog"] [role="option"]').first().waitFor()
    },
  },
  {
    path: '/log?type=2&not_outcome=failed',
    state: 'with the outcomes',
    as: root,
    only: 'wide',
    async prepare(page) {
      await rows(page)
      await page.locator('main [role="group"] button[aria-haspopup="dialog"]').first().click()
      await page.locator('[role="dialog"] input[type="checkbox"]').first().waitFor()
    },
  },
  {
    path: '/log?type=2&not_model=gpt-4o&not_model=o3',
    state: 'with the filters',
    as: root,
    only: 'narrow',
    async prepare(page) {
      await rows(page)
      await page.locator('main [role="group"] > button[aria-expanded]').click()
      await page.locator('[role="dialog"] select').first().waitFor()
    },
  },
  { path: '/log', state: 'failed', as: root, fails: '**/api/log/**', prepare: failed },
  {
    path: '/log?type=2',
    state: 'with a drawer',
    as: root,
    async prepare(page) {
      await rows(page)
      await page.getByRole('rowheader').getByRole('button').first().click()
      await drawer(page)
    },
  },
  {
    path: '/log',
    state: 'with the saved views',
    only: 'wide',
    as: root,
    async prepare(page) {
      await rows(page)
      await page.locator('main button:has(.lucide-bookmark)').click()
      await page.locator('[role="dialog"]').waitFor()
    },
  },
  {
    path: `/log/${seededRequest}`,
    as: root,
    prepare: (page) => page.locator('main dl').first().waitFor(),
  },
  {
    path: '/log/20260101000000000000000000000000',
    state: 'with a request that is not there',
    as: root,
    prepare: (page) => page.locator('main [role="status"] *').first().waitFor(),
  },
  { path: `/log/${seededRequest}`, state: 'failed', as: root, fails: '**/api/log/search*', prepare: failed },
]

const settled = (id: string) => (page: Page) =>
  page.locator(`#${id} input, #${id} select, #${id} textarea`).first().waitFor()
const setting: Screen[] = [
  { path: '/setting', as: root, prepare: (page) => page.locator('main dl').first().waitFor() },
  { path: '/setting', state: 'to a user', as: person, prepare: (page) => page.locator('main dl').first().waitFor() },
  {
    path: '/setting',
    state: 'with the question before an account is deleted',
    as: root,
    prepare: opens((page) => page.locator('main section').last().getByRole('button').last()),
  },
  { path: '/setting?tab=operation', as: root, prepare: settled('RetryTimes') },
  {
    path: '/setting?tab=operation',
    state: 'changed',
    as: root,
    async prepare(page) {
      await page.locator('#RetryTimes input').fill('7')
      await page.locator('section[aria-label] button[aria-expanded]').last().click()
      await page.locator('del').first().waitFor()
    },
  },
  {
    path: '/setting?tab=operation&q=nothing-like-it',
    state: 'found nothing',
    as: root,
    prepare: (page) => page.locator('main p[role="status"]').waitFor(),
  },
  { path: '/setting?tab=operation', state: 'failed', as: root, fails: '**/api/option/**', prepare: failed },
  { path: '/setting?tab=system', as: root, prepare: settled('SMTPServer') },
  {
    path: '/setting?tab=system',
    state: 'with a warning',
    as: root,
    prepare: opens((page) => page.locator('#PasswordLoginEnabled [role="switch"]')),
  },
  { path: '/setting?tab=other', as: root, prepare: settled('SystemName') },
  { path: '/setting?tab=audit', as: root, prepare: rows },
  {
    path: '/setting',
    state: 'with the dialog for an email address',
    as: root,
    prepare: opens((page) => page.locator('main section').nth(1).getByRole('button').first()),
  },
  {
    path: '/setting',
    state: 'with the question before an access token is made',
    as: root,
    prepare: opens((page) => page.locator('main section').nth(2).getByRole('button').first()),
  },
  {
    path: '/setting?tab=operation',
    state: 'with the ratios as they are stored',
    as: root,
    async prepare(page) {
      await page.locator('#ratios fieldset label').nth(2).click()
      await page.locator('#ModelRatio textarea').waitFor()
    },
  },
]

/** The overlays that the frame opens over a page. */
const frame: Screen[] = [
  {
    path: '/about',
    state: 'with the panel of the bell',
    as: root,
    async prepare(page) {
      await page.locator('header button:has(.lucide-bell)').click()
      await page.locator('[role="dialog"] section, [role="dialog"] p').first().waitFor()
    },
  },
]

/** Every page of the console, in every state that looks different. */
export const screens: readonly Screen[] = [
  ...waysIn,
  ...openPages,
  ...frame,
  ...channel,
  ...token,
  ...redemption,
  ...user,
  ...log,
  ...usageScreens,
  ...budgetScreens,
  ...statementScreens,
  ...modelScreens,
  ...alertScreens,
  ...virtualModelScreens,
  ...importScreens,
  ...playground,
  ...setting,
  ...recording,
]
