import type { CallMode } from '../contract/relay-modes.ts'

/** How a relayed call ended. */
export type Outcome = 'complete' | 'aborted' | 'interrupted'

/** Result of a check of the SQLite database. `unknown`: it took too long, or could not be done. */
export type DatabaseState = 'sound' | 'damaged' | 'unknown'

/** What happened to one relayed call, for machines. Never contains content or keys. */
export interface CallEvent {
  requestId: string
  mode: CallMode
  model: string
  channelId: number
  outcome: Outcome
  /** Error code if it did not complete. */
  code: string
  /** Units charged. */
  quota: number
  /** Units of the price that no balance covered (QuotaPolicy=strict). */
  uncovered: number
  promptTokens: number
  completionTokens: number
  elapsedMs: number
  firstByteMs: number
  attempts: number
  estimated: boolean
}

/** One function per business event; each counts and may write a log line. */
export interface Events {
  callEnded(event: CallEvent): void
  /** A caller was answered with an error, a refusal included. */
  callRefused(event: { code: string }): void
  attemptFailed(event: {
    requestId: string
    channelId: number
    model: string
    status: number
    reason: string
    /** The network error; '' if an answer arrived. */
    cause: string
  }): void
  channelDisabled(event: { channelId: number; reason: string }): void
  settleRetried(event: { cause: string }): void
  holdSwept(event: { holdId: string; charge: number }): void
  /** An uncaught error, which no caller was told about. */
  faultUncaught(event: { cause: string }): void
  /** Something an operator should look at. */
  warning(message: string): void
}
