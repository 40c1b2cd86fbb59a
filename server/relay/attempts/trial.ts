import type { Hold } from '../../billing/ledger.ts'
import type { ChatEndpoint, ModeEndpoint } from '../../providers/provider.ts'
import type { AnyCall } from '../call/call.ts'
import type { RelayDeps } from '../call/deps.ts'
import type { Charging } from '../charging/charging-types.ts'
import type { AttemptFailed } from '../failures/retry-policy.ts'
import type { Channel } from '../routing/routing-table.ts'

/** How a request differs from its usual form, after a service refused the usual form. */
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
  /** The cached upstream tokens of the previous attempt were refused. */
  freshLogin?: true
}

/** One attempt at one channel: what to send, and what the attempt records for the remedies. */
export interface Trial {
  readonly hold: Hold
  readonly charging: Charging
  readonly channel: Channel
  readonly form: Form
  /** The endpoints that the attempt could use, best first. */
  endpoints: readonly (ChatEndpoint | ModeEndpoint)[]
  /** The request ended with the beginning of the model's turn. */
  isPrefilled?: boolean
  /** Cached upstream tokens that were sent, by their names. */
  readonly lent: Map<string, string>
  /** What to remember about the service if the attempt succeeds, because success proves that its form was right. */
  readonly lessons: readonly (() => void)[]
}

/** A new trial, which has not been sent yet. */
export function newTrial(
  { hold, charging, channel }: Pick<Trial, 'hold' | 'charging' | 'channel'>,
  form: Form = {},
  lessons: Trial['lessons'] = [],
): Trial {
  return { hold, charging, channel, form, endpoints: [], lent: new Map(), lessons }
}

/**
 * Makes one attempt. Returns a response for the caller, or the failure that explains why there is none. The attempt
 * owns the hold only after it has been handed over.
 */
export type MakeAttempt<Call extends AnyCall, Answer = Response> = (
  deps: RelayDeps,
  call: Call,
  trial: Trial,
) => Promise<Answer | AttemptFailed>
