import { type RefObject, useEffect, useRef, useState } from 'react'

/** Whether an element has been visible, or nearly visible. Once true, the result stays true. */
export function useSeen<T extends HTMLElement>(): [RefObject<T | null>, boolean] {
  const element = useRef<T>(null)
  const [seen, setSeen] = useState(false)
  useEffect(() => {
    const current = element.current
    if (!current || seen) return
    const observer = new IntersectionObserver(
      (entries) => {
        if (entries.some((entry) => entry.isIntersecting)) setSeen(true)
      },
      { rootMargin: '200px' },
    )
    observer.observe(current)
    return () => observer.disconnect()
  }, [seen])
  return [element, seen]
}
