import type { Context } from 'hono'
import type { Upgrade } from '../lib/network/socket-session.ts'

/** The person behind a call of the management API, as the users table has them now. */
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
    /** Turns the request into a WebSocket; absent if nobody serves them. */
    upgrade?: Upgrade
    /** Lifts the idle limit of the connection while a request is answered, or sets it again. */
    mayBeSilent?: (isAllowed: boolean) => void
  }
  Variables: {
    requestId: string
    /** Set by `clientAddress()`; read by rate limits, token subnets and the audit trail. */
    clientAddress: string
    /** The caller's side of the connection is TLS, seen here or by a trusted proxy. */
    secure: boolean
    person?: Person
    /** The message of a success; empty except where clients check it. */
    successMessage?: string
  }
}

export type AppContext = Context<AppEnv>
