import { useEffect, useState } from 'react'

/** True once a condition has lasted: what is over at once is not worth a sign, and would flicker. `afterMs` is when. */
export function useLasting(condition: boolean, afterMs: number): boolean {
  const [lasted, setLasted] = useState(false)
  useEffect(() => {
    if (!condition) return
    const timer = setTimeout(() => setLasted(true), afterMs)
    return () => {
      clearTimeout(timer)
      setLasted(false)
    }
  }, [condition, afterMs])
  return condition && lasted
}
