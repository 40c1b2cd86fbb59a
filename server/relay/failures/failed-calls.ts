import { type Clock, epochSeconds } from '../../lib/clock.ts'
import {
  addFailedCalls,
  type FailedCalls as Entry,
  failedRowsPerMinute,
  joined,
  type SharedRow,
} from '../../store/logs/failed-calls.ts'
import type { LogRow } from '../../store/schema/ledger-types.ts'
import { isRefusal } from '../../store/statements/without-effect.ts'
import type { Store } from '../../store/store.ts'

/** Writes the log rows of failed calls in the background. */
export interface FailedCallLog {
  /** Records one failed call. `make` is called only if the call gets its own row or is the first in a shared row. */
  note(of: { tokenId: number; code: string; beganAtMs: number }, make: () => LogRow): void
  /** Resolves once every recorded row has been written or dropped. */
  close(): Promise<void>
}

export interface FailedCallLogDeps {
  store: Store
  clock: Clock
  /**
   * Called with the number of calls that will not appear in any row, because too many rows are waiting or because the
   * database rejected the row.
   */
  lost(calls: number): void
  warn(message: string): void
}

/** The rows of one token and error code that have yet to be written. */
interface Waiting {
  tokenId: number
  code: string
  minute: number
  /** The number of calls that got their own row in this minute, counted only by this process. */
  own: number
  rows: LogRow[]
  shared: SharedRow | undefined
}

/** The maximum number of pairs of token and error code remembered at once. */
const mostKnown = 10_000
/** The maximum total number of rows that wait for the database. */
const mostRows = 2_000
const sharedEveryMs = 1000

/** Creates the log of failed calls; see `FailedCalls`. */
export function createFailedCallLog(deps: FailedCallLogDeps): FailedCallLog {
  return new FailedCalls(deps)
}

/**
 * Writes the rows of failed calls in the background, so that no caller waits for them. Rows are written after the
 * current turn of the event loop, all rows of a turn in one transaction. The number of rows per token and code is
 * limited here, so that a flood of failures does not reach the database. A second limit in the database applies to all
 * nodes together.
 */
class FailedCalls implements FailedCallLog {
  readonly #deps: FailedCallLogDeps
  readonly #known = new Map<string, Waiting>()
  /** Entries that have something to write. */
  readonly #due = new Set<Waiting>()
  #rows = 0
  #writing: Promise<void> | undefined
  #timer: ReturnType<typeof setTimeout> | undefined
  #sweptAt = 0

  constructor(deps: FailedCallLogDeps) {
    this.#deps = deps
  }

  note({ tokenId, code, beganAtMs }: Parameters<FailedCallLog['note']>[0], make: () => LogRow): void {
    const minute = Math.floor(this.#deps.clock.nowMs() / 60_000)
    const entry = this.#entryOf(tokenId, code, minute)
    if (!entry) {
      this.#deps.lost(1)
      return
    }
    if (entry.minute !== minute) {
      entry.minute = minute
      entry.own = 0
    }
    this.#due.add(entry)
    if (entry.own < failedRowsPerMinute && this.#rows < mostRows) {
      entry.own++
      this.#rows++
      entry.rows.push(make())
      this.#writeSoon()
      return
    }
    const since = Math.floor(beganAtMs / 1000)
    // All calls beyond the limit share one row.
    if (entry.shared)
      entry.shared = { ...entry.shared, calls: entry.shared.calls + 1, since: Math.min(entry.shared.since, since) }
    else entry.shared = { row: make(), calls: 1, since }
    this.#writeLater()
  }

  async close(): Promise<void> {
    clearTimeout(this.#timer)
    await this.#writing
    await this.#write(true)
    clearTimeout(this.#timer)
  }

  #entryOf(tokenId: number, code: string, minute: number): Waiting | undefined {
    const key = `${tokenId} ${code}`
    const known = this.#known.get(key)
    if (known) return known
    if (this.#known.size >= mostKnown) this.#forgetIdle(minute)
    if (this.#known.size >= mostKnown) return undefined
    const entry: Waiting = { tokenId, code, minute, own: 0, rows: [], shared: undefined }
    this.#known.set(key, entry)
    return entry
  }

  /** Deletes the entries that are no longer used. Runs at most once a minute, because it visits all entries. */
  #forgetIdle(minute: number): void {
    if (minute === this.#sweptAt) return
    this.#sweptAt = minute
    for (const [key, entry] of this.#known) if (entry.minute < minute && !this.#due.has(entry)) this.#known.delete(key)
  }

  #writeSoon(): void {
    this.#writing ??= new Promise<void>((resolve) => setImmediate(resolve))
      .then(() => this.#write(false))
      .finally(() => {
        this.#writing = undefined
      })
  }

  #writeLater(): void {
    if (this.#timer !== undefined) return
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      this.#writeSoon()
    }, sharedEveryMs)
    this.#timer.unref()
  }

  async #write(atOnce: boolean): Promise<void> {
    const due = [...this.#due].sort((a, b) => a.tokenId - b.tokenId || (a.code < b.code ? -1 : 1))
    if (due.length === 0) return
    this.#due.clear()
    const taken = due.map(({ tokenId, code, rows, shared }) => ({ tokenId, code, rows, shared }))
    for (const entry of due) Object.assign(entry, { rows: [], shared: undefined })
    const { store, clock, warn } = this.#deps
    try {
      const waiting = await store.write((trx) => addFailedCalls(trx, taken, epochSeconds(clock), atOnce))
      for (const { rows } of taken) this.#rows -= rows.length
      for (const [index, entry] of due.entries()) this.#putBack(entry, [], waiting[index])
    } catch (error) {
      warn(`rows of failed calls could not be written: ${String(error)}`)
      const isOfRow = isRefusal(error)
      for (const [index, entry] of due.entries()) {
        const { rows = [], shared } = taken[index] ?? {}
        if (isOfRow) await this.#writeEach(entry, rows, shared, atOnce)
        else this.#putBack(entry, rows, shared)
      }
    }
    if (this.#due.size > 0) this.#writeLater()
  }

  /**
   * Writes each row separately, and drops the rows that the database rejects. Otherwise, a rejected row would block all
   * other rows forever.
   */
  async #writeEach(
    entry: Waiting,
    rows: readonly LogRow[],
    shared: SharedRow | undefined,
    atOnce: boolean,
  ): Promise<void> {
    const { tokenId, code } = entry
    const { store, clock, lost } = this.#deps
    const parts: Pick<Entry, 'rows' | 'shared'>[] = rows.map((row) => ({ rows: [row], shared: undefined }))
    if (shared) parts.push({ rows: [], shared })
    for (const [at, part] of parts.entries()) {
      try {
        const of = [{ tokenId, code, ...part }]
        const [waiting] = await store.write((trx) => addFailedCalls(trx, of, epochSeconds(clock), atOnce))
        this.#putBack(entry, [], waiting)
      } catch (error) {
        if (!isRefusal(error)) {
          this.#putBack(entry, rows.slice(at), shared)
          return
        }
        lost(part.rows.length + (part.shared?.calls ?? 0))
      }
      this.#rows -= part.rows.length
    }
  }

  /** Puts rows that could not be written ahead of the rows added in the meantime. */
  #putBack(entry: Waiting, rows: readonly LogRow[], shared: SharedRow | undefined): void {
    entry.rows = [...rows, ...entry.rows]
    entry.shared = joined(shared, entry.shared)
    if (entry.rows.length > 0 || entry.shared) this.#due.add(entry)
  }
}
