import {
  type AnyRoute,
  createRootRoute,
  createRoute,
  type Register,
  type ResolveFullPath,
  type ResolveId,
  type Route,
  redirect,
} from '@tanstack/react-router'
import type { ComponentType } from 'react'
import { sessionUser } from '../lib/session.ts'
import type { RawSearch } from '../lib/url-query.ts'
import { lazyPage } from './lazy-page.tsx'
import type { Page } from './page-row.ts'
import { pages, type Row } from './pages.ts'
import { Root } from './root.tsx'

/** The modules of all pages. A broader pattern would put every module in `pages/` into its own chunk. */
const modules = import.meta.glob<Record<string, ComponentType>>('../pages/*/*.page.tsx')

/** Loads the component of a page, which is the only export of its module. */
async function load(file: string): Promise<ComponentType> {
  const [component] = Object.values((await modules[`../pages/${file}.page.tsx`]?.()) ?? {})
  if (!component) throw new Error(`There is no page ${file}.`)
  return component
}

const rootRoute = createRootRoute({ component: Root })

/** Pages for visitors who are not logged in: a centred card, without the sidebar and the top bar. */
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
 * Requires a login, according to the session that the browser remembers. The requested URL is kept, so that the user
 * returns to it after the login.
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

const anyOther = createRoute({
  getParentRoute: () => shellRoute,
  path: '$',
  component: lazyPage(async () => (await import('./not-found.tsx')).NotFound, []),
})

type SearchOf<Each> = Each extends { search: (raw: RawSearch) => infer Search } ? (raw: RawSearch) => Search : undefined

/** The route of a row with its literal path and the type of its query, so that the compiler checks links. */
type RouteOf<Parent extends AnyRoute, Each> = Each extends Page
  ? Route<
      Register,
      Parent,
      Each['path'],
      ResolveFullPath<Parent, Each['path']>,
      string,
      ResolveId<Parent, string, Each['path']>,
      SearchOf<Each>
    >
  : never

/**
 * Creates the routes of the pages for one audience. Pages parse the query themselves (`useUrlState`), so the parsers
 * are loaded together with the pages. The table only provides the types of the queries for links.
 */
function routesFor<For extends Page['for'], Parent extends AnyRoute>(audience: For, parent: Parent) {
  const routes = pages
    .filter((page) => page.for === audience)
    .map(({ path, file, areas }) =>
      createRoute({
        getParentRoute: () => parent as AnyRoute,
        path,
        component: lazyPage(() => load(file), areas),
      }),
    )
  return routes as unknown as RouteOf<Parent, Extract<Row, { for: For }>>[]
}

/** Every page of the console. */
export const routeTree = rootRoute.addChildren([
  plainRoute.addChildren(routesFor('visitors', plainRoute)),
  shellRoute.addChildren([
    ...routesFor('everybody', shellRoute),
    anyOther,
    userRoute.addChildren(routesFor('users', userRoute)),
    adminRoute.addChildren(routesFor('admins', adminRoute)),
  ]),
])
