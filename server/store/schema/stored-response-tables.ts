/**
 * Added by Tollgate: responses and conversations that an upstream stores. A row is kept for as long as callers may
 * refer to the response.
 */
export interface StoredResponsesTable {
  /** The upstream's id of the response. */
  id: string
  /** The user who requested the response. Other users cannot use it. */
  user_id: number
  channel_id: number
  /** The keyed hash of the channel's key, for a channel that has several keys; '' otherwise. */
  key_hash: string
  /** The upstream's name for the model. */
  model: string
  created_at: number
}
