import { roles } from '../../contract/roles.ts'
import { parseListSearch, texts } from '../lib/url-state.ts'
import type { Area } from '../messages/namespaces.ts'
import { parseBudgetSearch } from '../pages/budget/search.ts'
import { parseChannelSearch } from '../pages/channel/search.ts'
import { parseImportSearch } from '../pages/import/search.ts'
import { parseLogSearch } from '../pages/log/search.ts'
import { parseModelSearch } from '../pages/model/search.ts'
import { parsePlaygroundSearch } from '../pages/playground/search.ts'
import { parseRedemptionSearch, parseSheetSearch } from '../pages/redemption/search.ts'
import { parseSettingSearch } from '../pages/setting/search.ts'
import { parseStatementSearch } from '../pages/statement/search.ts'
import { parseTokenSearch } from '../pages/token/search.ts'
import { parseUsageSearch } from '../pages/usage/search.ts'
import { parseUserSearch } from '../pages/user/search.ts'
import type { Page } from './page-row.ts'

interface Layout {
  /** The lowest role that sees the pages; 0 also includes visitors. */
  role: number
  /** The layout components' modules in `console/app`, innermost first. */
  modules: readonly string[]
  /** The areas of texts that these modules need, in addition to `common`. */
  areas: readonly Area[]
}

/** The layouts that `routes.tsx` mounts. Only the build reads this, so the browser does not load it. */
export const layouts: Readonly<Record<Page['for'], Layout>> = {
  visitors: { role: 0, modules: ['plain-layout.tsx'], areas: [] },
  everybody: { role: 0, modules: ['shell.tsx'], areas: ['shell'] },
  users: { role: roles.user, modules: ['shell.tsx'], areas: ['shell'] },
  admins: { role: roles.admin, modules: ['admin-only.tsx', 'shell.tsx'], areas: ['shell'] },
}

const table = [
  {
    path: '/',
    file: 'home/home',
    for: 'everybody',
    areas: ['home'],
    heading: { title: 'home.title', unless: { stored: 'home_page_content' } },
    menu: { text: 'menu.home', icon: 'House', key: 'h' },
    early: ['home/start.tsx'],
  },
  {
    path: '/chat',
    file: 'chat/chat',
    for: 'everybody',
    areas: ['chat'],
    heading: { title: 'chat.title', width: 'full' },
    menu: { text: 'menu.chat', icon: 'MessageSquare', needs: 'chat link' },
  },
  {
    path: '/playground',
    file: 'playground/playground',
    for: 'users',
    areas: ['playground', 'form'],
    search: parsePlaygroundSearch,
    heading: { title: 'playground.title', text: 'playground.note' },
    menu: { text: 'menu.playground', icon: 'SquareTerminal' },
  },
  {
    path: '/channel',
    file: 'channel/list',
    for: 'admins',
    areas: ['channel', 'table'],
    search: parseChannelSearch,
    heading: { title: 'channel.title', text: 'channel.intro', width: 'full' },
    menu: { text: 'menu.channel', group: 'gateway', icon: 'Network', key: 'c' },
  },
  {
    path: '/channel/add',
    file: 'channel/form',
    for: 'admins',
    areas: ['channel', 'provider', 'form'],
    heading: { title: 'channel.addTitle', width: 'narrow' },
  },
  {
    path: '/channel/edit/$id',
    file: 'channel/form',
    for: 'admins',
    areas: ['channel', 'provider', 'form'],
    heading: { title: 'channel.editTitle', width: 'narrow' },
  },
  {
    path: '/virtual-model',
    file: 'virtual/list',
    for: 'admins',
    areas: ['virtual', 'table'],
    heading: { title: 'virtual.title', text: 'virtual.intro' },
    menu: { text: 'menu.virtual', group: 'gateway', icon: 'Waypoints', needs: 'more calls' },
  },
  {
    path: '/virtual-model/add',
    file: 'virtual/form',
    for: 'admins',
    areas: ['virtual', 'form'],
    heading: { title: 'virtual.addTitle', width: 'narrow' },
  },
  {
    path: '/virtual-model/edit/$id',
    file: 'virtual/form',
    for: 'admins',
    areas: ['virtual', 'form'],
    heading: { title: 'virtual.editTitle', width: 'narrow' },
  },
  {
    path: '/token',
    file: 'token/list',
    for: 'users',
    areas: ['token', 'table'],
    search: parseTokenSearch,
    heading: { title: 'token.title', text: 'token.intro', width: 'full' },
    menu: { text: 'menu.token', group: 'gateway', icon: 'KeyRound', key: 't' },
  },
  {
    path: '/token/add',
    file: 'token/form',
    for: 'users',
    areas: ['token', 'form'],
    heading: { title: 'token.addTitle', width: 'narrow' },
  },
  {
    path: '/token/edit/$id',
    file: 'token/form',
    for: 'users',
    areas: ['token', 'form'],
    heading: { title: 'token.editTitle', width: 'narrow' },
  },
  {
    path: '/model',
    file: 'model/list',
    for: 'users',
    areas: ['model', 'table'],
    search: parseModelSearch,
    heading: { title: 'model.title', text: 'model.intro', width: 'full' },
    menu: { text: 'menu.model', group: 'gateway', icon: 'Tags', key: 'm', needs: 'more calls' },
  },
  {
    path: '/pricing',
    file: 'model/visitors',
    for: 'everybody',
    areas: ['model', 'table'],
    search: parseModelSearch,
    heading: { title: 'model.title', text: 'model.intro', width: 'full' },
    menu: { text: 'menu.model', group: 'gateway', icon: 'Tags', needs: 'public models' },
  },
  {
    path: '/redemption',
    file: 'redemption/list',
    for: 'admins',
    areas: ['redemption', 'table'],
    search: parseRedemptionSearch,
    heading: { title: 'redemption.title', text: 'redemption.intro', width: 'full' },
    menu: { text: 'menu.redemption', group: 'accounts', icon: 'Ticket', key: 'r' },
  },
  {
    path: '/redemption/add',
    file: 'redemption/form',
    for: 'admins',
    areas: ['redemption', 'form'],
    heading: { title: 'redemption.addTitle', width: 'narrow' },
  },
  {
    path: '/redemption/edit/$id',
    file: 'redemption/form',
    for: 'admins',
    areas: ['redemption', 'form'],
    heading: { title: 'redemption.editTitle', width: 'narrow' },
  },
  {
    path: '/redemption/batches',
    file: 'redemption/batches',
    for: 'admins',
    areas: ['redemption', 'table'],
    search: parseListSearch,
    heading: { title: 'redemption.batches.title', text: 'redemption.batches.intro', width: 'full' },
  },
  {
    path: '/redemption/sheet',
    file: 'redemption/sheet',
    for: 'admins',
    areas: ['redemption', 'table'],
    search: parseSheetSearch,
    heading: { title: 'redemption.sheet.title' },
  },
  {
    path: '/topup',
    file: 'topup/topup',
    for: 'users',
    areas: ['topup', 'form'],
    heading: { title: 'topup.title' },
    menu: { text: 'menu.topup', group: 'accounts', icon: 'CreditCard', key: 'p' },
  },
  {
    path: '/user',
    file: 'user/list',
    for: 'admins',
    areas: ['user', 'table'],
    search: parseUserSearch,
    heading: { title: 'user.title', text: 'user.intro', width: 'full' },
    menu: { text: 'menu.user', group: 'accounts', icon: 'Users', key: 'u' },
  },
  {
    path: '/user/add',
    file: 'user/add',
    for: 'admins',
    areas: ['user', 'form'],
    heading: { title: 'user.addTitle', width: 'narrow' },
  },
  {
    path: '/user/edit/$id',
    file: 'user/form',
    for: 'admins',
    areas: ['user', 'form'],
    heading: { title: 'user.editTitle', width: 'narrow' },
  },
  {
    path: '/user/edit',
    file: 'user/form',
    for: 'users',
    areas: ['user', 'form'],
    heading: { title: 'user.selfTitle', width: 'narrow' },
  },
  {
    path: '/alert',
    file: 'alert/alert',
    for: 'users',
    areas: ['alert', 'table'],
    heading: { title: 'alert.title', text: 'alert.intro' },
    menu: { text: 'menu.alert', group: 'accounts', icon: 'Bell', needs: 'more calls' },
  },
  {
    path: '/usage',
    file: 'usage/usage',
    for: 'users',
    areas: ['usage', 'table'],
    search: parseUsageSearch,
    heading: { title: 'usage.title', text: 'usage.intro', width: 'full' },
    menu: { text: 'menu.usage', group: 'activity', icon: 'ChartColumn' },
    early: ['usage/usage-chart.tsx'],
  },
  {
    path: '/budget',
    file: 'budget/list',
    for: 'users',
    areas: ['budget', 'table'],
    search: parseBudgetSearch,
    heading: { title: 'budget.title', text: 'budget.intro', width: 'full' },
    menu: { text: 'menu.budget', group: 'activity', icon: 'Gauge', needs: 'more calls' },
  },
  {
    path: '/statement',
    file: 'statement/statement',
    for: 'users',
    areas: ['statement'],
    search: parseStatementSearch,
    heading: { title: 'statement.title', width: 'narrow' },
  },
  {
    path: '/log',
    file: 'log/list',
    for: 'users',
    areas: ['log', 'table'],
    search: parseLogSearch,
    heading: { title: 'log.title', text: 'log.intro', width: 'full' },
    menu: { text: 'menu.log', group: 'activity', icon: 'Activity', key: 'l' },
  },
  {
    path: '/log/$id',
    file: 'log/request',
    for: 'users',
    areas: ['log'],
    heading: { title: 'log.inspect.title' },
  },
  {
    path: '/recording',
    file: 'recording/recording',
    for: 'admins',
    areas: ['recording', 'form'],
    search: texts('target', 'id'),
    heading: { title: 'recording.title', width: 'narrow' },
  },
  {
    path: '/import',
    file: 'import/import',
    for: 'admins',
    areas: ['import', 'finding', 'refusal'],
    search: parseImportSearch,
    heading: { title: 'import.title', text: 'import.intro', width: 'narrow' },
  },
  {
    path: '/setting',
    file: 'setting/setting',
    for: 'users',
    areas: ['setting', 'form'],
    search: parseSettingSearch,
    heading: { title: 'setting.title', unless: { query: 'tab=audit' } },
    menu: { text: 'menu.setting', group: 'more', icon: 'Settings', key: 's' },
  },
  {
    path: '/status',
    file: 'status/status',
    for: 'everybody',
    areas: ['status'],
    heading: { title: 'status.page.title', width: 'narrow' },
    menu: { text: 'menu.status', group: 'more', icon: 'HeartPulse', needs: 'status page' },
  },
  {
    path: '/reference',
    file: 'reference/reference',
    for: 'everybody',
    areas: ['reference'],
    heading: { title: 'reference.title', text: 'reference.intro', width: 'full' },
    menu: { text: 'menu.reference', group: 'more', icon: 'BookOpen', needs: 'API reference' },
  },
  {
    path: '/about',
    file: 'about/about',
    for: 'everybody',
    areas: ['about'],
    heading: { title: 'about.title' },
    menu: { text: 'menu.about', group: 'more', icon: 'CircleHelp' },
  },
  {
    path: '/login',
    file: 'login/login',
    for: 'visitors',
    areas: ['auth'],
    search: texts('expired'),
  },
  {
    path: '/register',
    file: 'register/register',
    for: 'visitors',
    areas: ['auth', 'register', 'form'],
    search: texts('aff'),
  },
  { path: '/reset', file: 'reset/reset', for: 'visitors', areas: ['reset', 'form'] },
  {
    path: '/user/reset',
    file: 'reset/confirm',
    for: 'visitors',
    areas: ['reset', 'form'],
    search: texts('email', 'token'),
  },
  { path: '/oauth/github', file: 'oauth/oauth', for: 'visitors', areas: ['auth'], search: texts('code', 'state') },
] as const satisfies readonly Page[]

/** A row with its literal types, from which the compiler knows every path and its query. */
export type Row = (typeof table)[number]

/**
 * Every page of the console. The routes, the menu, the tests and the build use this table; the build finds in it the
 * scripts to load first. The menu has the order of the rows, which is one-api's order with Tollgate's additional pages
 * in between. The build and the tests load the table outside a browser, so it must not import React or a page. The
 * build removes the fields that the routes do not need (`dividedPages`).
 */
export const pages: readonly Page[] = table
