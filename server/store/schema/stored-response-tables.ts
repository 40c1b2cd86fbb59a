/** Ours: responses and conversations that a service stores, for as long as callers may refer to them. */
export interface StoredResponsesTable {
  /** The service's id. */
  id: string
  /** The user who made it, and who alone may use it. */
  user_id: number
  channel_id: number
  /** Keyed hash of the key, for a channel that has several; '' otherwise. */
  key_hash: string
  /** The model as it is called upstream. */
  model: string
  created_at: number
}
