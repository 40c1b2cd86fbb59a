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
 * Where the content of a recorded request is stored: `s3` = in the object store, `files:<node>` = in a file on that
 * node. In rows of earlier versions, which do not contain the node, it is `files`.
 */
export type CapturePlace = 's3' | 'files' | `files:${string}`

/** Added by Tollgate: the recorded requests, and where their contents are stored. */
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
