import { type FocusEvent, type RefObject, useLayoutEffect, useRef } from 'react'

interface FocusInPlace {
  ref: RefObject<HTMLDivElement | null>
  onFocus(event: FocusEvent): void
  onBlur(): void
}

/**
 * Keeps the focus within a list. If the control that has the focus is removed, as by a button that removes its own
 * row, the focus moves to the control that takes its place. Spread the result on the element around the list.
 */
export function useFocusInPlace(): FocusInPlace {
  const ref = useRef<HTMLDivElement>(null)
  /** The position of the control with the focus; -1 if the focus is elsewhere. */
  const at = useRef(-1)
  // Without dependencies, because every drawing may remove the control. React calls no `onBlur` for a removed element.
  useLayoutEffect(() => {
    if (at.current < 0 || document.activeElement !== document.body) return
    const controls = ref.current ? controlsIn(ref.current) : []
    ;(controls[Math.min(at.current, controls.length - 1)] ?? ref.current)?.focus()
  })
  return {
    ref,
    onFocus: ({ target }) => {
      at.current = ref.current ? controlsIn(ref.current).indexOf(target as HTMLElement) : -1
    },
    onBlur: () => {
      at.current = -1
    },
  }
}

function controlsIn(list: HTMLElement): HTMLElement[] {
  const all = [...list.querySelectorAll<HTMLElement>('a[href], button, input, select, textarea, summary')]
  return all.filter((control) => control.checkVisibility() && !control.matches(':disabled'))
}
