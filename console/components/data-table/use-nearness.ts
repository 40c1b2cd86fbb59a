import { type PointerEvent, useEffect, useRef } from 'react'

/** How long the pointer must rest on an element, so that merely passing over it has no effect. */
const restMs = 120

/**
 * Calls `near` once a mouse has rested on an element for a moment. Returns the element's handlers; none if there is
 * nothing to call.
 */
export function useNearness(near: (() => void) | undefined) {
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  useEffect(() => () => clearTimeout(timer.current), [])
  if (!near) return {}
  return {
    onPointerEnter({ pointerType }: PointerEvent) {
      if (pointerType === 'mouse') timer.current = setTimeout(near, restMs)
    },
    onPointerLeave: () => clearTimeout(timer.current),
  }
}
