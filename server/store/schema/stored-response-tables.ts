/** Added by Tollgate: responses and conversations that a service stores, for as long as callers may refer to them. */
export interface StoredResponsesTable {
  /** The service's id for the response. */
  id: string
  /** The user who made the response. Nobody else may use it. */
  user_id: number
  channel_id: number
  /** The keyed hash of the channel's key, for a channel that has several keys; '' otherwise. */
  key_hash: string
  /** The upstream's name for the model. */
  model: string
  created_at: number
}
