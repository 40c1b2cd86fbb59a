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

/** An object store, or a file on the named node. Older rows do not name their node. */
export type CapturePlace = 's3' | 'files' | `files:${string}`

/** Added by Tollgate: the recorded requests, and the places of their contents. */
export interface CapturesTable {
  request_id: string
  created_at: number
  user_id: number
  token_id: number
  rule_id: number
  place: CapturePlace
  /** True if the request is deleted for people, but its object has not been removed from the store yet. */
  deleted: boolean
}
