import { useEffect, useState } from 'react'

/** How long a text must stay the same before it is used, in milliseconds. */
const pauseMs = 200

/** Returns a text after it has stayed the same for a moment. */
export function useLater(text: string): string {
  const [later, setLater] = useState(text)
  useEffect(() => {
    const timer = setTimeout(() => setLater(text), pauseMs)
    return () => clearTimeout(timer)
  }, [text])
  return later
}
