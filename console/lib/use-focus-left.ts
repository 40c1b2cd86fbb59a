import { type RefObject, useLayoutEffect, useRef } from 'react'

/**
 * For a part of the page that disappears when one of its buttons is pressed, such as a bar for unsaved changes. If it
 * has the focus then, the focus moves to the nearest element around it that matches `around`, or to the page's heading.
 */
export function useFocusLeft<T extends HTMLElement>(around = 'main'): RefObject<T | null> {
  const part = useRef<T>(null)
  useLayoutEffect(() => {
    const element = part.current
    return () => {
      if (!element?.contains(document.activeElement)) return
      const outer = element.closest<HTMLElement>(around)
      const next = outer?.matches('main') ? outer.querySelector<HTMLElement>('h1') : outer
      next?.focus({ preventScroll: true })
    }
  }, [around])
  return part
}
