import type { AnyRouter, ParsedLocation } from '@tanstack/react-router'

const storedUnder = 'ui.scroll'

/** The router's scroll state after a navigation. `n` is false if the navigation had the option `resetScroll: false`. */
interface Scrolling {
  _scroll: { n: boolean }
}

const keyOf = ({ state, href }: ParsedLocation) => state.__TSR_key ?? href

function stored(): Record<string, number> {
  try {
    return JSON.parse(sessionStorage.getItem(storedUnder) ?? '{}')
  } catch {
    return {}
  }
}

/**
 * Scrolls a new page to its top or to the anchor in its URL, and a page from the history to its previous position. The
 * build uses this instead of the router's own function, which is twice as large, because it also stores the positions
 * of other scrollable elements.
 */
export function setupScrollRestoration(router: AnyRouter & Scrolling): void {
  const offsets = stored()
  history.scrollRestoration = 'manual'
  router.subscribe('onBeforeLoad', ({ fromLocation }) => {
    if (fromLocation) offsets[keyOf(fromLocation)] = scrollY
  })
  addEventListener('pagehide', () => {
    offsets[keyOf(router.state.location)] = scrollY
    try {
      sessionStorage.setItem(storedUnder, JSON.stringify(offsets))
    } catch {
      // The positions could not be stored. After a reload, the page starts at its top.
    }
  })
  router.subscribe('onRendered', ({ toLocation }) => {
    const resets = router._scroll.n
    router._scroll.n = true
    if (!resets) return
    const offset = offsets[keyOf(toLocation)]
    const part = offset === undefined && toLocation.hash && document.getElementById(toLocation.hash)
    if (part) part.scrollIntoView()
    else scrollTo(0, offset ?? 0)
  })
}
