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
/** How a state begins whose login was started with a PKCE challenge. */
const pkceMark = 'p'

/**
 * Ties the end of an outside login to its beginning: a state works once, within ten minutes, and only in the browser
 * that asked for it, known by a cookie that no script can read. Otherwise another site could log people in to an
 * account of its own, or bind that account to theirs.
 */
export interface OAuthStates {
  /** A state alone, for clients that build the address themselves. */
  issue(c: AppContext): Promise<string>
  /** A state with its PKCE challenge. */
  issueWithChallenge(c: AppContext): Promise<{ state: string; challenge: string }>
  /** Uses a state up; throws 403 when it is not this browser's. */
  demand(c: AppContext, state: string): Promise<void>
  /** The PKCE verifier of a state; undefined when its login was started without. */
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
  // Made from the state under the secret key, so that it need not be stored and no one else can make it.
  const verifier = (state: string) => secrets.fingerprint(state, 'oauth-pkce')

  async function issue(c: AppContext, mark: string): Promise<string> {
    const known = getCookie(c, cookieName)
    // A browser with two open logins keeps its mark, so that both can end well.
    const browser = known !== undefined && /^[\w-]{43}$/.test(known) ? known : randomBytes(32).toString('base64url')
    const state = mark + randomBytes(24).toString('base64url')
    const now = epochSeconds(clock)
    const code = { ...row(state, browser), created_time: now, expires_time: now + lifetimeSeconds }
    await store.write((trx) => saveCode(trx, code))
    setCookie(c, cookieName, browser, {
      // Behind a proxy the path begins with a prefix, or not: a path of its own would not come back at all of them.
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
        const message = 'The state is missing, wrong or too old: please start the login again in this browser.'
        throw new ApiFailure(message, 403)
      }
    },
    verifierOf: (state) => (state.startsWith(pkceMark) ? verifier(state) : undefined),
  }
}
