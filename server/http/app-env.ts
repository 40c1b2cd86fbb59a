import type { Context } from 'hono'
import type { Upgrade } from '../lib/network/socket-session.ts'

/** The user who made a request to the management API, with the current values from the users table. */
export interface Person {
  id: number
  username: string
  role: number
  status: number
  group: string
}

/** The data that the HTTP layer provides for every request. */
export interface AppEnv {
  Bindings: {
    /** The address of the socket's peer; absent in tests that call the app directly. */
    socketAddress?: string | undefined
    /** Turns the request into a WebSocket; absent if WebSockets are not served. */
    upgrade?: Upgrade
    /** Turns off the connection's idle limit while a request is being answered (true), or turns it on again (false). */
    mayBeSilent?: (isAllowed: boolean) => void
    /** The id that the outer router gave to the request before passing it to this router. */
    requestId?: string
  }
  Variables: {
    requestId: string
    /** Set by `clientAddress()`. Used by rate limits, token subnets and the audit log. */
    clientAddress: string
    /** True if the caller uses TLS, either on the connection to this server or according to a trusted proxy. */
    secure: boolean
    person?: Person
    /** The message of a successful response. It is empty, except for endpoints whose message clients check. */
    successMessage?: string
  }
}

export type AppContext = Context<AppEnv>
