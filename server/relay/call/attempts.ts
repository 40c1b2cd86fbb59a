import type { Channel } from '../routing/routing-table.ts'
import type { AnyCall, Attempt } from './call.ts'
import type { RelayDeps } from './deps.ts'

/** Adds an attempt to the list of its call. `sentAtMs` is a time on the deadline clock; `error` is '' for a success. */
export function noteAttempt(
  { deadlineWatch }: Pick<RelayDeps, 'deadlineWatch'>,
  { call, channel }: { readonly call: AnyCall; readonly channel: Channel },
  { sentAtMs, status, error = '' }: { readonly sentAtMs: number; readonly status: number; readonly error?: string },
): void {
  const elapsedMs = Math.round(deadlineWatch.nowMs() - sentAtMs)
  const model = call.step && { model: call.step.model }
  call.state.attempts.push({ channelId: channel.id, status, error, elapsedMs, ...model })
}

/** The maximum length, in characters, of a stored name that a caller has chosen. */
export const longestName = 200

/** The maximum number of bytes for the attempts in one log row. */
const mostBytes = 4096
/**
 * If a call has more than twice this many attempts, the row contains this many from the beginning and as many from the
 * end.
 */
const keptAtEnds = 10

/** The attempts as the log stores them: JSON of limited length, with long texts truncated. */
export function attemptsText(attempts: readonly Attempt[]): string {
  const entries =
    attempts.length <= 2 * keptAtEnds ? attempts : [...attempts.slice(0, keptAtEnds), ...attempts.slice(-keptAtEnds)]
  for (let most = longestText; ; most = Math.floor(most / 2)) {
    const text = JSON.stringify(entries.map((attempt) => ({ ...attempt, error: cutTo(attempt.error, most) })))
    if (most === 0 || Buffer.byteLength(text) <= mostBytes) return text
  }
}

/** The maximum length of one attempt's error text, in characters. */
const longestText = 1000

/**
 * The first characters of a text, in a form that a database can store: without split surrogate pairs and without NUL.
 */
export function cutTo(text: string, most: number): string {
  const short = text.length <= most ? text : `${text.slice(0, Math.max(0, most - 1)).replace(/[\ud800-\udbff]$/, '')}…`
  return most === 0 ? '' : short.replaceAll('\0', '').toWellFormed()
}
