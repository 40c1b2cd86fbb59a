/** Ours: responses that a service is still making after the call that asked for them has been answered. */
export interface BackgroundJobsTable {
  /** The hold of the call, which stays open until the job is charged. */
  hold_id: string
  user_id: number
  /** The service's id of the response. */
  response_id: string
  channel_id: number
  /** Keyed hash of the key, for a channel that has several; '' otherwise. */
  key_hash: string
  /** The model as it is called upstream. */
  model: string
  /** What charging and logging the call needs, as JSON. It contains nothing of the prompt. */
  call: string
  created_at: number
  /** When the job is ended if the service has not ended it by then. */
  ends_at: number
  /** When the service is asked next. A node that asks moves this time first, so that no other node asks as well. */
  poll_at: number
  /** Until then, the node that charges the job has time to do so. */
  settle_until: number
  /** How often in a row the service said that it does not know the response. */
  missing: number
}
