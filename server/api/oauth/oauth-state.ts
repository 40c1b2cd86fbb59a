import { createHash, randomBytes } from 'node:crypto'
import { getCookie, setCookie } from 'hono/cookie'
import { ApiFailure } from '../../http/api-failure.ts'
import type { AppContext } from '../../http/app-env.ts'
import { epochSeconds } from '../../lib/clock.ts'
import { saveCode, useCode } from '../../store/accounts/one-time-codes.ts'
import type { ApiDeps } from '../deps.ts'

const cookieName = 'oauth_state'
const lifetimeSeconds = 600
const purpose = 'oauth-state'
/** The prefix of a state if the login was started with a PKCE challenge. */
const pkceMark = 'p'

/**
 * Issues and checks the `state` of external logins. A state is valid once, within ten minutes, and only in the browser
 * that requested it. The browser is recognised by a cookie that scripts cannot read. Without these checks, an
 * attacker's site could log visitors in to the attacker's account, or connect the attacker's external account to the
 * visitors' accounts.
 */
export interface OAuthStates {
  /** Creates only a state, for clients that build the URL themselves. */
  issue(c: AppContext): Promise<string>
  /** Creates a state with its PKCE challenge. */
  issueWithChallenge(c: AppContext): Promise<{ state: string; challenge: string }>
  /** Uses up a state. Throws 403 if the state does not belong to this browser. */
  demand(c: AppContext, state: string): Promise<void>
  /** The PKCE verifier of a state; undefined if its login was started without PKCE. */
  verifierOf(state: string): string | undefined
}

export function createOAuthStates({
  store,
  secrets,
  clock,
}: Pick<ApiDeps, 'store' | 'secrets' | 'clock'>): OAuthStates {
  const row = (state: string, browser: string) => ({
    purpose,
    subject: secrets.fingerprint(state, 'oauth-state'),
    code_hash: secrets.fingerprint(browser, 'oauth-browser'),
  })
  // The verifier is derived from the state with the secret key. It therefore need not be stored, and nobody else can
  // compute it.
  const verifier = (state: string) => secrets.fingerprint(state, 'oauth-pkce')

  async function issue(c: AppContext, mark: string): Promise<string> {
    const known = getCookie(c, cookieName)
    // An existing cookie value is reused, so that two logins in progress in one browser can both succeed.
    const browser = known !== undefined && /^[\w-]{43}$/.test(known) ? known : randomBytes(32).toString('base64url')
    const state = mark + randomBytes(24).toString('base64url')
    const now = epochSeconds(clock)
    const code = { ...row(state, browser), created_time: now, expires_time: now + lifetimeSeconds }
    await store.write((trx) => saveCode(trx, code))
    setCookie(c, cookieName, browser, {
      // The path must be `/`: behind a proxy, the public path may have a prefix, and a cookie with a longer path would
      // not always be sent back.
      path: '/',
      httpOnly: true,
      sameSite: 'Lax',
      secure: c.get('secure'),
      maxAge: lifetimeSeconds,
    })
    return state
  }

  return {
    issue: (c) => issue(c, 's'),
    async issueWithChallenge(c) {
      const state = await issue(c, pkceMark)
      return { state, challenge: createHash('sha256').update(verifier(state)).digest('base64url') }
    },
    async demand(c, state) {
      const browser = getCookie(c, cookieName)
      const known =
        browser !== undefined &&
        state !== '' &&
        (await store.write((trx) => useCode(trx, row(state, browser), epochSeconds(clock), 1)))
      if (!known) {
        const message = 'The state is missing, invalid or expired. Start the login again in this browser.'
        throw new ApiFailure(message, 403)
      }
    },
    verifierOf: (state) => (state.startsWith(pkceMark) ? verifier(state) : undefined),
  }
}
