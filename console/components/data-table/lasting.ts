import { useEffect, useState } from 'react'

const afterMs = 200

/** True once a condition has lasted for 200 ms. An indicator for anything shorter would only flicker. */
export function useLasting(condition: boolean): boolean {
  const [lasted, setLasted] = useState(false)
  useEffect(() => {
    if (!condition) return
    const timer = setTimeout(() => setLasted(true), afterMs)
    return () => {
      clearTimeout(timer)
      setLasted(false)
    }
  }, [condition])
  return condition && lasted
}
