import { setSessionUser } from './session.ts'

let leave: () => void = () => undefined
let leaving = false

/** Sets the handler for the case that the server no longer recognises the session. The router calls this once. */
export function onExpiry(handler: () => void): void {
  leave = handler
}

/** Forgets the session and opens the login page. If several calls fail together, this happens only once. */
export function expireSession(): void {
  if (leaving) return
  leaving = true
  setSessionUser(undefined)
  leave()
  setTimeout(() => {
    leaving = false
  }, 1000)
}
