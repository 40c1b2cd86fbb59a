import type { Attempt } from './call.ts'

/** Of a name that a caller makes up, so many characters are kept. */
export const longestName = 200

/** What upstreams said in the attempts of one row takes no more than this, in bytes. */
const mostBytes = 4096
/** Of so many attempts at either end a row tells, where it cannot tell of all. */
const keptAtEnds = 10

/** The attempts as the log holds them: JSON of limited length, in which long texts are cut. */
export function attemptsText(attempts: readonly Attempt[]): string {
  const told =
    attempts.length <= 2 * keptAtEnds ? attempts : [...attempts.slice(0, keptAtEnds), ...attempts.slice(-keptAtEnds)]
  for (let most = longestText; ; most = Math.floor(most / 2)) {
    const text = JSON.stringify(told.map((attempt) => ({ ...attempt, error: cutTo(attempt.error, most) })))
    if (most === 0 || Buffer.byteLength(text) <= mostBytes) return text
  }
}

/** Longest text of one attempt, in characters. */
const longestText = 1000

/** The first characters of a text, as a database can hold them: whole ones, and no NUL. */
export function cutTo(text: string, most: number): string {
  const short = text.length <= most ? text : `${text.slice(0, Math.max(0, most - 1)).replace(/[\ud800-\udbff]$/, '')}…`
  return most === 0 ? '' : short.replaceAll('\0', '').toWellFormed()
}
