import { type RefObject, useEffect, useRef, useState } from 'react'

/** The current width of an element in pixels; 0 until the element is on the page. */
export function useWidth<T extends HTMLElement>(): [RefObject<T | null>, number] {
  const element = useRef<T>(null)
  const [width, setWidth] = useState(0)
  useEffect(() => {
    const current = element.current
    if (!current) return
    const observer = new ResizeObserver(() => setWidth(current.clientWidth))
    observer.observe(current)
    return () => observer.disconnect()
  }, [])
  return [element, width]
}
