import { createRouter } from '@tanstack/react-router'
import { Loading } from '../components/ui/loading.tsx'
import { basePath } from '../lib/base-path.ts'
import { onExpiry } from '../lib/expiry.ts'
import { parseQuery, writeQuery } from '../lib/url-query.ts'
import { PageError } from './page-error.tsx'
import { routeTree } from './routes.tsx'

/** The router. The state of a page is kept in the URL. Query values are plain text, so that links can be typed. */
export const router = createRouter({
  routeTree,
  basepath: basePath === '' ? '/' : basePath,
  parseSearch: parseQuery,
  stringifySearch: writeQuery,
  defaultPreload: 'intent',
  defaultPreloadDelay: 60,
  defaultPendingMs: 300,
  defaultPendingMinMs: 0,
  defaultPendingComponent: Loading,
  defaultErrorComponent: PageError,
  scrollRestoration: true,
  trailingSlash: 'never',
})

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
  interface HistoryState {
    /** The page that the visitor requested before logging in. */
    from?: string
  }
}

onExpiry(() => {
  const { href, pathname } = router.state.location
  if (pathname === '/login') return
  void router.navigate({ to: '/login', search: { expired: 'true' }, state: { from: href } })
})

// After a page change, the heading gets the focus. Screen readers then announce it, and keyboard navigation continues
// from there.
router.subscribe('onRendered', ({ fromLocation, pathChanged }) => {
  if (!fromLocation || !pathChanged) return
  const active = document.activeElement
  const isTyping = active instanceof HTMLElement && active.closest('main')?.contains(active) && active.matches('input')
  if (!isTyping) document.querySelector<HTMLElement>('main h1')?.focus({ preventScroll: true })
})
