import type { CallMode } from '../contract/relay-modes.ts'

/** How a relayed call ended. `rescued`: the stream broke off, but another attempt continued it to its end. */
export type Outcome = 'complete' | 'rescued' | 'aborted' | 'interrupted'

/** Result of a check of the SQLite database. `unknown`: the check took too long, or could not be done. */
export type DatabaseState = 'sound' | 'damaged' | 'unknown'

/** What happened to one relayed call, in machine-readable form. Never contains content or keys. */
export interface CallEvent {
  requestId: string
  mode: CallMode
  model: string
  channelId: number
  outcome: Outcome
  /** Error code if the call did not complete. */
  code: string
  /** The quota units charged. */
  quota: number
  /**
   * The part of the price, in quota units, that the caller's balances did not cover. It is 0 unless QuotaPolicy is
   * `strict`.
   */
  uncovered: number
  promptTokens: number
  completionTokens: number
  elapsedMs: number
  firstByteMs: number
  attempts: number
  estimated: boolean
}

/** One function per business event. Each counts the event and may write a log line. */
export interface Events {
  callEnded(event: CallEvent): void
  /** A caller received an error response, because the call was refused or because it failed later. */
  callRefused(event: { code: string }): void
  attemptFailed(event: {
    requestId: string
    channelId: number
    model: string
    status: number
    reason: string
    /** The network error; '' if a response arrived. */
    cause: string
  }): void
  channelDisabled(event: { channelId: number; reason: string }): void
  settleRetried(event: { cause: string }): void
  holdSwept(event: { holdId: string; charge: number }): void
  /** An uncaught error that was not reported to any caller. */
  faultUncaught(event: { cause: string }): void
  /** Something an operator should look at. */
  warning(message: string): void
}
