import { rootAccount } from './console.ts'
import { person, type Screen } from './screen.ts'
import { failed, opens, press, refuse } from './screen-steps.ts'

const root = rootAccount

/** Login pages, as visitors see them. */
export const waysIn: readonly Screen[] = [
  { path: '/login' },
  {
    path: '/login?expired=true',
    state: 'after the session ended',
    prepare: (page) => page.locator('[data-toast]').waitFor(),
  },
  {
    path: '/login',
    state: 'refused',
    async prepare(page) {
      await page.locator('input').nth(0).fill('nobody')
      await page.locator('input').nth(1).fill('a wrong password')
      await page.locator('button[type="submit"]').click()
      await page.locator('[data-toast="error"]').waitFor()
    },
  },
  {
    path: '/login',
    state: 'with the WeChat dialog',
    prepare: opens((page) => page.locator('main button:has(.lucide-message-circle)')),
  },
  { path: '/register?aff=abcd' },
  {
    path: '/register',
    state: 'refused',
    async prepare(page) {
      await page.locator('[name="username"]').fill('new')
      await page.locator('[name="password"]').fill('short')
      await page.locator('[name="password2"]').fill('other')
      await refuse(page)
    },
  },
  { path: '/reset' },
  {
    path: '/reset',
    state: 'refused',
    async prepare(page) {
      await page.locator('[name="email"]').fill('nobody')
      await refuse(page)
    },
  },
  { path: '/user/reset?email=a@example.com&token=x' },
  { path: '/user/reset', state: 'without its link' },
  {
    path: '/about',
    goes: '/oauth/github',
    state: 'the callback of a login at work',
    async prepare(page) {
      await page.route('**/api/oauth/github*', () => undefined)
      await page.goto('/oauth/github?code=x&state=y')
      await page.locator('[role="status"]').first().waitFor()
    },
  },
]

/** Public pages, and overlays that can be opened on every page. */
export const openPages: readonly Screen[] = [
  { path: '/', state: 'to visitors' },
  { path: '/', as: root, prepare: (page) => page.locator('main svg[role="img"]').first().waitFor() },
  { path: '/', state: 'to a new installation', as: root, bare: true },
  { path: '/?scope=own', as: root, prepare: (page) => page.locator('main svg[role="img"]').first().waitFor() },
  { path: '/', state: 'to a new account', as: person, bare: true },
  { path: '/', state: 'failed', as: root, fails: '**/api/overview/', prepare: failed },
  { path: '/about', as: root },
  { path: '/about', state: 'failed', as: root, fails: '**/api/about', prepare: failed },
  { path: '/status', prepare: (page) => page.locator('main svg[role="img"]').first().waitFor() },
  { path: '/status', state: 'switched off', bare: true },
  { path: '/status', state: 'failed', fails: '**/api/status-page', prepare: failed },
  { path: '/pricing', prepare: (page) => page.locator('main tbody tr').first().waitFor() },
  { path: '/pricing', state: 'switched off', bare: true },
  { path: '/reference', as: root, prepare: (page) => page.locator('article pre').first().waitFor() },
  {
    path: '/reference?part=management&call=channelCreate',
    as: root,
    prepare: (page) => page.locator('article pre').first().waitFor(),
  },
  { path: '/reference?q=no-such-endpoint', state: 'found nothing', as: root },
  { path: '/reference', state: 'failed', as: root, fails: '**/api/openapi.json', prepare: failed },
  { path: '/reference', state: 'to visitors', bare: true },
  { path: '/no/such/page', as: root },
  { path: '/no/such/page', state: 'to visitors' },
  { path: '/channel', state: 'without permission', as: person },
  { path: '/chat', as: root, bare: true, state: 'without a link' },
  { path: '/chat', as: root, opens: /chat\.example/, prepare: (page) => page.locator('iframe').waitFor() },
  {
    path: '/about',
    as: root,
    state: 'with the notices',
    prepare: opens((page) => page.locator('header button:has(.lucide-bell)')),
  },
  { path: '/about', as: root, state: 'with the palette', prepare: press('Control+k') },
  { path: '/about', as: root, state: 'with the help for keys', prepare: press('?') },
  {
    path: '/about',
    as: root,
    state: 'with the menu',
    only: 'narrow',
    prepare: opens((page) => page.locator('header button[aria-expanded]').last()),
  },
]
