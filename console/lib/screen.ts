import { useSyncExternalStore } from 'react'

/** Widths at which the layout changes, as in `styles/tokens.css`. */
const widths = {
  sm: window.matchMedia('(min-width: 37.5625rem)'),
  lg: window.matchMedia('(min-width: 64rem)'),
}

function onResize(listener: () => void): () => void {
  for (const each of Object.values(widths)) each.addEventListener('change', listener)
  return () => {
    for (const each of Object.values(widths)) each.removeEventListener('change', listener)
  }
}

/**
 * Whether the window is at least this wide. The component renders again when this changes. Use this for parts that
 * would otherwise be drawn twice, with one copy hidden.
 */
export function useScreen(width: keyof typeof widths): boolean {
  return useSyncExternalStore(onResize, () => widths[width].matches)
}
