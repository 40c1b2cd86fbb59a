import type { Generated } from 'kysely'

/** Added by Tollgate: rules that determine whose requests are recorded, and until when. */
export interface CaptureRulesTable {
  id: Generated<number>
  target: 'user' | 'token' | 'channel'
  target_id: number
  target_name: string
  created_at: number
  until: number
  created_by: number
  created_by_name: string
  /** JSON list of texts. */
  redactions: string
  size_limit: number
}

/**
 * The place of a recorded request: the object store, or a file on the node after the colon. Rows of earlier versions do
 * not contain the node.
 */
export type CapturePlace = 's3' | 'files' | `files:${string}`

/** Added by Tollgate: the recorded requests, and the places of their contents. */
export interface CapturesTable {
  request_id: string
  created_at: number
  user_id: number
  token_id: number
  rule_id: number
  place: CapturePlace
  /** True if people can no longer see the request, but its object or file has not been removed yet. */
  deleted: boolean
}
