import type { Generated } from 'kysely'

/** Sessions of the console. */
export interface SessionsTable {
  /** The keyed hash of the random id in the cookie. */
  id_hash: string
  user_id: number
  created_time: number
  last_seen_time: number
  expires_time: number
  /** The IP address and the truncated User-Agent of the session's last request; '' = not known. */
  address: Generated<string>
  client: Generated<string>
}
