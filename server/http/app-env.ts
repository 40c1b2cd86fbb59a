import type { Context } from 'hono'
import type { Upgrade } from '../lib/network/socket-session.ts'

/** The user who made a call of the management API, with the current values of the users table. */
export interface Person {
  id: number
  username: string
  role: number
  status: number
  group: string
}

/** What the HTTP layer knows about every request. */
export interface AppEnv {
  Bindings: {
    /** Address of the socket's peer; absent in tests that call the app in process. */
    socketAddress?: string | undefined
    /** Turns the request into a WebSocket; absent if WebSockets are not served. */
    upgrade?: Upgrade
    /** Turns the connection's idle limit off (true) while a request is being answered, or on again (false). */
    mayBeSilent?: (isAllowed: boolean) => void
    /** The id of a request that another router has already accepted. */
    requestId?: string
  }
  Variables: {
    requestId: string
    /** Set by `clientAddress()`; read by rate limits, token subnets and the audit log. */
    clientAddress: string
    /** True if the caller's side of the connection uses TLS, as seen here or reported by a trusted proxy. */
    secure: boolean
    person?: Person
    /** The message of a successful response; empty except where clients check it. */
    successMessage?: string
  }
}

export type AppContext = Context<AppEnv>
