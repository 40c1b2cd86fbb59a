import type { Hold } from '../../billing/ledger.ts'
import type { ChatEndpoint, ModeEndpoint } from '../../providers/provider.ts'
import type { AnyCall } from '../call/call.ts'
import type { RelayDeps } from '../call/deps.ts'
import type { Charging } from '../charging/charging-types.ts'
import type { AttemptFailed } from '../failures/retry-policy.ts'
import type { Channel } from '../routing/routing-table.ts'

/** The changes to a request after a service refused the usual request. */
export interface Form {
  /** The request is sent to this endpoint instead of the channel's best endpoint. */
  endpoint?: ChatEndpoint
  /** The usage of the stream is not requested. */
  withoutUsage?: true
  /** Reasoning from earlier in the conversation is dropped. */
  withoutThoughts?: true
  /** The gateway summarizes the conversation, because the service does not compact it. */
  ownSummary?: true
  /** The truncated answer is sent as a complete turn, because the service does not continue an incomplete turn. */
  withoutPrefill?: true
  /** The service refused the cached upstream tokens (with which the provider logs in) of the previous attempt. */
  freshLogin?: true
}

/**
 * One attempt at one channel: the request to send, and the results that the attempt records. After a failure, the code
 * in remedies.ts uses these results to choose the next attempt.
 */
export interface Trial {
  readonly hold: Hold
  readonly charging: Charging
  readonly channel: Channel
  readonly form: Form
  /** The endpoints that the attempt could use, best first. */
  endpoints: readonly (ChatEndpoint | ModeEndpoint)[]
  /** True if the request that was sent ended with an incomplete turn of the model, for the model to continue. */
  isPrefilled?: boolean
  /** The upstream tokens that this attempt took from the cache and sent, by their names in the cache. */
  readonly lent: Map<string, string>
  /**
   * Functions to call if the attempt succeeds. Each records a feature that the service does not support. A success
   * proves that this feature was the reason why the previous request failed.
   */
  readonly lessons: readonly (() => void)[]
}

/** A new attempt, which has not been sent yet. */
export function newTrial(
  { hold, charging, channel }: Pick<Trial, 'hold' | 'charging' | 'channel'>,
  form: Form = {},
  lessons: Trial['lessons'] = [],
): Trial {
  return { hold, charging, channel, form, endpoints: [], lent: new Map(), lessons }
}

/**
 * Makes one attempt. Returns a response for the caller, or the reason why the attempt failed. Until the attempt takes
 * over the hold, the calling code is responsible for releasing it.
 */
export type MakeAttempt<Call extends AnyCall, Answer = Response> = (
  deps: RelayDeps,
  call: Call,
  trial: Trial,
) => Promise<Answer | AttemptFailed>
