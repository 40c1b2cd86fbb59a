import { type NavigateOptions, type RegisteredRouter, useRouter, useRouterState } from '@tanstack/react-router'
import { type ComponentProps, createElement, type MouseEvent, useEffect, useRef } from 'react'

type Destination = NavigateOptions<RegisteredRouter>
type Anchor = ComponentProps<'a'>

interface LinkProps extends Omit<Anchor, 'href'> {
  to: Destination['to']
  params?: Destination['params']
  search?: Destination['search']
  hash?: Destination['hash']
  state?: Destination['state']
  replace?: boolean
  resetScroll?: boolean
  activeOptions?: { exact?: boolean; includeSearch?: boolean }
  activeProps?: Anchor
}

/** If the pointer or the focus stays on a link for this time, its page is loaded. */
const preloadMs = 60

/** Whether the browser should follow a link itself, for example in order to open a new tab. */
const isForBrowser = (event: MouseEvent<HTMLAnchorElement>, target: string | undefined) =>
  event.metaKey ||
  event.altKey ||
  event.ctrlKey ||
  event.shiftKey ||
  event.button !== 0 ||
  (target !== undefined && target !== '_self')

const withoutSlash = (path: string) => path.replace(/(.)\/$/, '$1')

/** Whether `path` is the page `parent` or, unless `exact`, a page below it. */
function isWithin(path: string, parent: string, exact: boolean): boolean {
  const [own, other] = [withoutSlash(path), withoutSlash(parent)]
  return own === other || (!exact && own.startsWith(`${other}/`))
}

const isPartOf = (part: Readonly<Record<string, unknown>>, whole: Readonly<Record<string, unknown>>) =>
  Object.entries(part).every(([name, value]) => value === undefined || value === whole[name])

/** Calls the first handler. Then calls the second, unless the first has prevented the default action. */
const both =
  <Happening extends { defaultPrevented: boolean }>(
    first: ((event: Happening) => void) | undefined,
    second: (event: Happening) => void,
  ) =>
  (event: Happening) => {
    first?.(event)
    if (!event.defaultPrevented) second(event)
  }

/**
 * A link to a page of the console. The build uses this instead of the router's own link, which is three times as large
 * because of features that the console does not use: links to other sites, masked URLs, elements other than `a`, and
 * preloading of links that come into view. The size matters, because no page is drawn before this module has loaded.
 */
export function Link(props: LinkProps) {
  const { to, params, search, hash, state, replace, resetScroll, activeOptions, activeProps, ...rest } = props
  const { onClick, onFocus, onBlur, onMouseEnter, onMouseLeave, onTouchStart, ...anchor } = rest
  const router = useRouter()
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  const options = { to, params, search, hash, state, replace, resetScroll } as Destination
  // The result is a text, so that the link is redrawn only if the text changes.
  const [mark, href = ''] = useRouterState({
    select: ({ location }) => {
      const next = router.buildLocation({ ...options, _fromLocation: location } as Destination)
      const { exact = false, includeSearch = true } = activeOptions ?? {}
      const isActive =
        isWithin(location.pathname, next.pathname, exact) && (!includeSearch || isPartOf(next.search, location.search))
      return `${isActive ? '+' : '-'} ${router.history.createHref(next.publicHref)}`
    },
  }).split(' ')

  const preload = () => void router.preloadRoute(options as never).catch(() => undefined)
  const stay = () => clearTimeout(timer.current)
  const come = () => {
    stay()
    timer.current = setTimeout(preload, preloadMs)
  }
  useEffect(() => () => clearTimeout(timer.current), [])
  const go = (event: MouseEvent<HTMLAnchorElement>) => {
    if (event.defaultPrevented || isForBrowser(event, anchor.target)) return
    event.preventDefault()
    stay()
    void router.navigate(options)
  }
  const isActive = mark === '+'
  const shown: Anchor & { 'data-status'?: 'active' } = {
    ...anchor,
    ...(isActive && activeProps),
    ...(isActive && { 'data-status': 'active', 'aria-current': 'page' }),
    className: [anchor.className, isActive && activeProps?.className].filter(Boolean).join(' ') || undefined,
    href,
    onClick: both(onClick, go),
    onFocus: both(onFocus, come),
    onBlur: both(onBlur, stay),
    onMouseEnter: both(onMouseEnter, come),
    onMouseLeave: both(onMouseLeave, stay),
    onTouchStart: both(onTouchStart, preload),
  }
  return createElement('a', shown)
}
