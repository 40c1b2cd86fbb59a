import { timingSafeEqual } from 'node:crypto'
import { getCookie, setCookie } from 'hono/cookie'
import type { AppContext } from '../../http/app-env.ts'
import type { Secrets } from '../../lib/secrets/secrets.ts'

const cookieName = 'known'
const lifetimeSeconds = 180 * 86_400

/**
 * The account's fields from which the cookie of a known browser is computed. A new password invalidates older cookies.
 */
interface Account {
  id: number
  password: string
}

function markOf(secrets: Secrets, { id, password }: Account): string {
  return secrets.fingerprint(`${id} ${password}`, 'known-browser')
}

/** Sets a cookie in a browser that has logged in to the account, so that it is recognised as a known browser. */
export function markBrowser(c: AppContext, secrets: Secrets, account: Account): void {
  setCookie(c, cookieName, markOf(secrets, account), {
    path: '/',
    httpOnly: true,
    sameSite: 'Lax',
    secure: c.get('secure'),
    maxAge: lifetimeSeconds,
  })
}

/** True for a browser that has logged in to the account before, with its current password. */
export function isKnownBrowser(c: AppContext, secrets: Secrets, account: Account): boolean {
  const [cookie, mark] = [getCookie(c, cookieName) ?? '', markOf(secrets, account)].map((text) => Buffer.from(text))
  return cookie !== undefined && mark !== undefined && cookie.length === mark.length && timingSafeEqual(cookie, mark)
}
