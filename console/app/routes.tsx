import { createRootRoute, createRoute, redirect } from '@tanstack/react-router'
import { sessionUser } from '../lib/session.ts'
import { texts } from '../lib/url-state.ts'
import type { Area } from '../messages/namespaces.ts'
import { parseChannelSearch } from '../pages/channel/search.ts'
import { parseLogSearch } from '../pages/log/search.ts'
import { parseModelSearch } from '../pages/model/search.ts'
import { parsePlaygroundSearch } from '../pages/playground/search.ts'
import { parseRedemptionSearch } from '../pages/redemption/search.ts'
import { parseSettingSearch } from '../pages/setting/search.ts'
import { parseTokenSearch } from '../pages/token/search.ts'
import { parseUsageSearch } from '../pages/usage/search.ts'
import { parseUserSearch } from '../pages/user/search.ts'
import { lazyPage } from './lazy-page.tsx'
import { NotFound } from './not-found.tsx'
import { Root } from './root.tsx'

const list: readonly Area[] = ['table']
const form: readonly Area[] = ['form']

const rootRoute = createRootRoute({ component: Root, notFoundComponent: NotFound })

/** Pages for visitors who are not logged in: a centred card, with nothing else to load. */
const plainRoute = createRoute({
  getParentRoute: () => rootRoute,
  id: 'plain',
  component: lazyPage(async () => (await import('./plain-layout.tsx')).PlainLayout, []),
})

/** Sidebar, top bar, content. */
const shellRoute = createRoute({
  getParentRoute: () => rootRoute,
  id: 'shell',
  component: lazyPage(async () => (await import('./shell.tsx')).Shell, ['shell']),
})

/**
 * Requires a login, judging by what the browser remembers. The requested address is kept, so that the user returns to
 * it after the login.
 */
function guard({ location }: { location: { href: string } }): void {
  if (!sessionUser()) throw redirect({ to: '/login', state: { from: location.href } })
}

/** Pages for logged-in users. */
const userRoute = createRoute({ getParentRoute: () => shellRoute, id: 'user-pages', beforeLoad: guard })

/** Pages for role 10 and above; other users see a message. The server decides what is allowed. */
const adminRoute = createRoute({
  getParentRoute: () => shellRoute,
  id: 'admin-pages',
  beforeLoad: guard,
  component: lazyPage(async () => (await import('./admin-only.tsx')).AdminOnly, []),
})

const login = createRoute({
  getParentRoute: () => plainRoute,
  path: '/login',
  validateSearch: texts('expired'),
  component: lazyPage(async () => (await import('../pages/login/login.tsx')).LoginPage, ['auth']),
})
const register = createRoute({
  getParentRoute: () => plainRoute,
  path: '/register',
  validateSearch: texts('aff'),
  component: lazyPage(
    async () => (await import('../pages/register/register.tsx')).RegisterPage,
    ['auth', 'register', 'form'],
  ),
})
const reset = createRoute({
  getParentRoute: () => plainRoute,
  path: '/reset',
  component: lazyPage(async () => (await import('../pages/reset/reset.tsx')).ResetPage, ['reset', 'form']),
})
const resetConfirm = createRoute({
  getParentRoute: () => plainRoute,
  path: '/user/reset',
  validateSearch: texts('email', 'token'),
  component: lazyPage(async () => (await import('../pages/reset/confirm.tsx')).ResetConfirmPage, ['reset', 'form']),
})
const oauth = createRoute({
  getParentRoute: () => plainRoute,
  path: '/oauth/github',
  validateSearch: texts('code', 'state'),
  component: lazyPage(async () => (await import('../pages/oauth/oauth.tsx')).OAuthPage, ['auth']),
})

const home = createRoute({
  getParentRoute: () => shellRoute,
  path: '/',
  component: lazyPage(async () => (await import('../pages/home/home.tsx')).HomePage, ['home']),
})
const about = createRoute({
  getParentRoute: () => shellRoute,
  path: '/about',
  component: lazyPage(async () => (await import('../pages/about/about.tsx')).AboutPage, ['about']),
})
const chat = createRoute({
  getParentRoute: () => shellRoute,
  path: '/chat',
  component: lazyPage(async () => (await import('../pages/chat/chat.tsx')).ChatPage, ['chat']),
})

const tokens = createRoute({
  getParentRoute: () => userRoute,
  path: '/token',
  validateSearch: parseTokenSearch,
  component: lazyPage(async () => (await import('../pages/token/list.tsx')).TokenListPage, ['token', ...list]),
})
const tokenForm = async () => (await import('../pages/token/form.tsx')).TokenFormPage
const tokenAdd = createRoute({
  getParentRoute: () => userRoute,
  path: '/token/add',
  component: lazyPage(tokenForm, ['token', ...form]),
})
const tokenEdit = createRoute({
  getParentRoute: () => userRoute,
  path: '/token/edit/$id',
  component: lazyPage(tokenForm, ['token', ...form]),
})
const logs = createRoute({
  getParentRoute: () => userRoute,
  path: '/log',
  validateSearch: parseLogSearch,
  component: lazyPage(async () => (await import('../pages/log/list.tsx')).LogListPage, ['log', ...list]),
})
const topup = createRoute({
  getParentRoute: () => userRoute,
  path: '/topup',
  component: lazyPage(async () => (await import('../pages/topup/topup.tsx')).TopUpPage, ['topup', ...form]),
})
const setting = createRoute({
  getParentRoute: () => userRoute,
  path: '/setting',
  validateSearch: parseSettingSearch,
  component: lazyPage(async () => (await import('../pages/setting/setting.tsx')).SettingPage, ['setting', ...form]),
})
const usage = createRoute({
  getParentRoute: () => userRoute,
  path: '/usage',
  validateSearch: parseUsageSearch,
  component: lazyPage(async () => (await import('../pages/usage/usage.tsx')).UsagePage, ['usage', ...list]),
})
const models = createRoute({
  getParentRoute: () => userRoute,
  path: '/model',
  validateSearch: parseModelSearch,
  component: lazyPage(async () => (await import('../pages/model/list.tsx')).ModelListPage, ['model', ...list]),
})
const playground = createRoute({
  getParentRoute: () => userRoute,
  path: '/playground',
  validateSearch: parsePlaygroundSearch,
  component: lazyPage(
    async () => (await import('../pages/playground/playground.tsx')).PlaygroundPage,
    ['playground', ...form],
  ),
})
const selfEdit = createRoute({
  getParentRoute: () => userRoute,
  path: '/user/edit',
  component: lazyPage(async () => (await import('../pages/user/form.tsx')).UserFormPage, ['user', ...form]),
})

const channels = createRoute({
  getParentRoute: () => adminRoute,
  path: '/channel',
  validateSearch: parseChannelSearch,
  component: lazyPage(async () => (await import('../pages/channel/list.tsx')).ChannelListPage, ['channel', ...list]),
})
const channelForm = async () => (await import('../pages/channel/form.tsx')).ChannelFormPage
const channelAdd = createRoute({
  getParentRoute: () => adminRoute,
  path: '/channel/add',
  component: lazyPage(channelForm, ['channel', ...form]),
})
const channelEdit = createRoute({
  getParentRoute: () => adminRoute,
  path: '/channel/edit/$id',
  component: lazyPage(channelForm, ['channel', ...form]),
})
const redemptions = createRoute({
  getParentRoute: () => adminRoute,
  path: '/redemption',
  validateSearch: parseRedemptionSearch,
  component: lazyPage(
    async () => (await import('../pages/redemption/list.tsx')).RedemptionListPage,
    ['redemption', ...list],
  ),
})
const redemptionForm = async () => (await import('../pages/redemption/form.tsx')).RedemptionFormPage
const redemptionAdd = createRoute({
  getParentRoute: () => adminRoute,
  path: '/redemption/add',
  component: lazyPage(redemptionForm, ['redemption', ...form]),
})
const redemptionEdit = createRoute({
  getParentRoute: () => adminRoute,
  path: '/redemption/edit/$id',
  component: lazyPage(redemptionForm, ['redemption', ...form]),
})
const users = createRoute({
  getParentRoute: () => adminRoute,
  path: '/user',
  validateSearch: parseUserSearch,
  component: lazyPage(async () => (await import('../pages/user/list.tsx')).UserListPage, ['user', ...list]),
})
const userAdd = createRoute({
  getParentRoute: () => adminRoute,
  path: '/user/add',
  component: lazyPage(async () => (await import('../pages/user/add.tsx')).UserAddPage, ['user', ...form]),
})
const userEdit = createRoute({
  getParentRoute: () => adminRoute,
  path: '/user/edit/$id',
  component: lazyPage(async () => (await import('../pages/user/form.tsx')).UserFormPage, ['user', ...form]),
})
const anyOther = createRoute({ getParentRoute: () => shellRoute, path: '$', component: NotFound })

/** Every page of the console. */
export const routeTree = rootRoute.addChildren([
  plainRoute.addChildren([login, register, reset, resetConfirm, oauth]),
  shellRoute.addChildren([
    home,
    about,
    chat,
    anyOther,
    userRoute.addChildren([tokens, tokenAdd, tokenEdit, logs, topup, setting, usage, models, playground, selfEdit]),
    adminRoute.addChildren([
      channels,
      channelAdd,
      channelEdit,
      redemptions,
      redemptionAdd,
      redemptionEdit,
      users,
      userAdd,
      userEdit,
    ]),
  ]),
])
