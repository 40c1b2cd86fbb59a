import type { Generated } from 'kysely'

/** Ours: whose requests are recorded, and until when. */
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

/** An object store, or a file on the node with the name; older rows do not name their node. */
export type CapturePlace = 's3' | 'files' | `files:${string}`

/** Ours: the requests that were recorded, and where their contents are. */
export interface CapturesTable {
  request_id: string
  created_at: number
  user_id: number
  token_id: number
  rule_id: number
  place: CapturePlace
  /** Deleted for people; the object has yet to be removed from the store. */
  deleted: boolean
}
