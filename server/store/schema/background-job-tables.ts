/**
 * Added by Tollgate: responses that an upstream generates in the background. The calls that requested them have already
 * received a response.
 */
export interface BackgroundJobsTable {
  /** The hold of the call, which stays open until the job is charged. */
  hold_id: string
  user_id: number
  /** The upstream's id of the response. */
  response_id: string
  channel_id: number
  /** The keyed hash of the channel's key, for a channel that has several keys; '' otherwise. */
  key_hash: string
  /** The upstream's name for the model. */
  model: string
  /** The data needed to charge and log the call, as JSON. It contains no part of the prompt. */
  call: string
  created_at: number
  /** The time at which the gateway ends the job if the upstream has not finished the response by then. */
  ends_at: number
  /**
   * The time at which the upstream is asked next for the state of the response. A node moves this time before it asks,
   * so that no other node asks at the same time.
   */
  poll_at: number
  /** The time until which only one node may charge the job. */
  settle_until: number
  /** The number of consecutive times that the upstream reported that it has no such response. */
  missing: number
}
