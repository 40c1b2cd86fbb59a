import type { Recording } from '../../captures/recording.ts'
import type { JsonBody } from '../body/json-body.ts'
import type { AnyCall } from '../call/call.ts'

/** A request as it arrived. */
export interface Incoming {
  request: Request
  requestId: string
  /** The caller's IP address, determined only if it is needed, for example for a token that is bound to a subnet. */
  address(): string
  /** The model named in the path. */
  pathModel?: string
  /** The state of the call when it failed, for its log row. */
  failed?: { call: AnyCall | undefined; model: string; startedAtMs: number }
  /** Completes the body of a turn within a WebSocket, or answers the turn without a call. Throws GatewayError (400). */
  complete?(read: JsonBody): JsonBody | Response
  /** Records the call; absent = it is not recorded. */
  recording?: Recording
  /** Called when the response has been sent, or when the call has ended without a response. */
  ended?: (() => void) | undefined
}
