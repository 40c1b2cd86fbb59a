import { useEffect, useState } from 'react'

/** Seconds to wait before another code or reset email can be sent. */
export const resendSeconds = 30

/** Counts whole seconds down to 0. */
export function useCountdown(): { seconds: number; start(seconds: number): void } {
  const [seconds, setSeconds] = useState(0)
  useEffect(() => {
    if (seconds === 0) return
    const timer = setTimeout(() => setSeconds(seconds - 1), 1000)
    return () => clearTimeout(timer)
  }, [seconds])
  return { seconds, start: setSeconds }
}
