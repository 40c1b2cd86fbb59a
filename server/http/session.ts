import { randomBytes } from 'node:crypto'
import { deleteCookie, getCookie, setCookie } from 'hono/cookie'
import { userStatus } from '../../contract/statuses.ts'
import { type Clock, epochSeconds } from '../lib/clock.ts'
import type { Secrets } from '../lib/secrets/secrets.ts'
import {
  addSession,
  endSession,
  personByAccessToken,
  personBySession,
  type SessionPlace,
  touchSession,
} from '../store/accounts/sessions.ts'
import { lockUsers } from '../store/accounts/users.ts'
import type { Store, Trx } from '../store/store.ts'
import type { AppContext, Person } from './app-env.ts'

const cookieName = 'session'
const lifetimeSeconds = 30 * 86_400
/** The minimum time between two writes of a session's last use. */
const touchSeconds = 300

/** The person who makes a request, or the reason why no person could be determined. */
export type Identity =
  | { kind: 'person'; person: Person }
  | { kind: 'nobody' }
  | { kind: 'unknown-access-token' }
  | { kind: 'banned' }

/** Determines who is logged in. */
export interface Sessions {
  /**
   * The person of the session cookie, if it is valid. Otherwise, the person of the access token in the Authorization
   * header.
   */
  identify(c: AppContext): Promise<Identity>
  /**
   * Like `identify`, but within a transaction that writes for the account `id`. The account is locked. If the account's
   * logins have ended since the request arrived, the result shows it. A concurrent change that would end them waits for
   * this transaction. `targetId` is another account that the transaction changes. It is locked as well.
   */
  identifyAgain(c: AppContext, trx: Trx, id: number, targetId?: number): Promise<Identity>
  /** Creates a session for the user, sends its cookie to the caller, and ends the caller's previous session. */
  start(c: AppContext, trx: Trx, userId: number): Promise<void>
  /** Ends the caller's session, if there is one. */
  end(c: AppContext, trx: Trx): Promise<void>
  /** The keyed hash of the caller's session cookie; undefined without one. The session may have ended. */
  hashOf(c: AppContext): string | undefined
  /** True if the request has a session cookie, valid or not. */
  hasCookie(c: AppContext): boolean
}

/** The client address and the User-Agent of a request. */
function placeOf(c: AppContext): SessionPlace {
  return { address: c.get('clientAddress') ?? '', client: c.req.header('user-agent') ?? '' }
}

/**
 * A session is a random id in a cookie. The database contains only the keyed hashes of the ids, so nobody can log in
 * with the contents of the database.
 */
export function createSessions({ store, secrets, clock }: { store: Store; secrets: Secrets; clock: Clock }): Sessions {
  const hashOf = (id: string) => secrets.fingerprint(id, 'session')
  /**
   * The id of the session that was created for each request. If a transaction is run a second time, it creates the
   * session again with the same id.
   */
  const started = new WeakMap<AppContext, string>()

  async function bySession(c: AppContext, trx?: Trx): Promise<Person | undefined> {
    const id = getCookie(c, cookieName)
    if (id === undefined || id === '') return undefined
    const hash = hashOf(id)
    const now = epochSeconds(clock)
    const row = await personBySession(trx ?? store.read, hash, now)
    if (!row) return undefined
    const { last_seen_time, ...person } = row
    if (!trx && now - last_seen_time >= touchSeconds)
      await store.write((trx) => touchSession(trx, hash, now, placeOf(c)))
    return person
  }

  async function byAccessToken(c: AppContext, trx?: Trx): Promise<Person | 'missing' | 'unknown'> {
    const token = (c.req.header('authorization') ?? '').replace(/^Bearer\s+/i, '').trim()
    if (token === '') return 'missing'
    return (await personByAccessToken(trx ?? store.read, secrets.fingerprint(token, 'access-token'))) ?? 'unknown'
  }

  async function identify(c: AppContext, trx?: Trx): Promise<Identity> {
    const result = (await bySession(c, trx)) ?? (await byAccessToken(c, trx))
    if (result === 'missing') return { kind: 'nobody' }
    if (result === 'unknown') return { kind: 'unknown-access-token' }
    return result.status === userStatus.enabled ? { kind: 'person', person: result } : { kind: 'banned' }
  }

  return {
    identify: (c) => identify(c),
    async identifyAgain(c, trx, id, targetId = id) {
      await lockUsers(trx, [id, targetId])
      const now = await identify(c, trx)
      // If the session has expired in the meantime, the request's access token is used, which may belong to another
      // person.
      return now.kind === 'person' && now.person.id !== id ? { kind: 'nobody' } : now
    },
    async start(c, trx, userId) {
      const known = started.get(c)
      const id = known ?? randomBytes(32).toString('base64url')
      const now = epochSeconds(clock)
      await addSession(trx, {
        id_hash: hashOf(id),
        user_id: userId,
        created_time: now,
        expires_time: now + lifetimeSeconds,
        seen: placeOf(c),
      })
      // The previous session is ended only after the new one has been created. Creating a session first waits for other
      // transactions that are changing the account, because they may end the account's sessions.
      const before = getCookie(c, cookieName)
      if (before !== undefined) await endSession(trx, hashOf(before))
      if (known !== undefined) return
      started.set(c, id)
      setCookie(c, cookieName, id, {
        path: '/',
        httpOnly: true,
        sameSite: 'Lax',
        secure: c.get('secure'),
        maxAge: lifetimeSeconds,
      })
    },
    async end(c, trx) {
      const id = getCookie(c, cookieName)
      if (id === undefined) return
      await endSession(trx, hashOf(id))
      deleteCookie(c, cookieName, { path: '/' })
    },
    hashOf(c) {
      const id = getCookie(c, cookieName)
      return id === undefined ? undefined : hashOf(id)
    },
    hasCookie: (c) => getCookie(c, cookieName) !== undefined,
  }
}
