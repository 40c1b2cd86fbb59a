/**
 * Added by Tollgate: responses that a service is still generating although the call that requested them has been
 * answered.
 */
export interface BackgroundJobsTable {
  /** The hold of the call, which stays open until the job is charged. */
  hold_id: string
  user_id: number
  /** The service's id of the response. */
  response_id: string
  channel_id: number
  /** The keyed hash of the channel's key, for a channel that has several keys; '' otherwise. */
  key_hash: string
  /** The upstream's name for the model. */
  model: string
  /** The data needed to charge and log the call, as JSON. It contains nothing of the prompt. */
  call: string
  created_at: number
  /** The time at which the job is ended if the service has not ended it by then. */
  ends_at: number
  /**
   * The time at which the service is asked next. Before a node asks, it moves this time, so that no other node asks,
   * too.
   */
  poll_at: number
  /** The time until which the node that charges the job may do so. */
  settle_until: number
  /** The number of consecutive times that the service did not know the response. */
  missing: number
}
