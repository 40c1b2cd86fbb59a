import { isRefusal } from '../../billing/batcher.ts'
import { type Clock, epochSeconds } from '../../lib/clock.ts'
import {
  addFailedCalls,
  type FailedCalls as Entry,
  failedRowsPerMinute,
  joined,
  type SharedRow,
} from '../../store/logs/failed-calls.ts'
import type { LogRow } from '../../store/schema/ledger-types.ts'
import type { Store } from '../../store/store.ts'

/** Writes the log rows of failed calls in the background. */
export interface FailedCallLog {
  /** Records one failed call; `make` is called if the call gets its own row or the first shared one. */
  note(of: { tokenId: number; code: string; beganAtMs: number }, make: () => LogRow): void
  /** Resolves once everything recorded has been written, or could not be. */
  close(): Promise<void>
}

export interface FailedCallLogDeps {
  store: Store
  clock: Clock
  /** Called for calls that are in no row: too many are waiting, or the database rejects their row. */
  lost(calls: number): void
  warn(message: string): void
}

/** The waiting rows of one token and code. */
interface Waiting {
  tokenId: number
  code: string
  minute: number
  /** Calls that got their own row in this minute, counted by this process only. */
  own: number
  rows: LogRow[]
  shared: SharedRow | undefined
}

/** Most pairs of token and code remembered at once. */
const mostKnown = 10_000
/** Most rows that wait for the database, in all. */
const mostRows = 2_000
const sharedEveryMs = 1000

/** Makes the log of failed calls; see `FailedCalls`. */
export function createFailedCallLog(deps: FailedCallLogDeps): FailedCallLog {
  return new FailedCalls(deps)
}

/**
 * A failed call makes nobody wait: its row is written after its turn, all rows of a turn in one transaction. The rows
 * per token and code are limited here, so that a flood does not even reach the database, and again in the database for
 * all nodes.
 */
class FailedCalls implements FailedCallLog {
  readonly #deps: FailedCallLogDeps
  readonly #known = new Map<string, Waiting>()
  /** Those that have something to write. */
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
    // All of them share one row.
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

  /** At most once a minute, since it goes through all entries. */
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

  /** Writes each row by itself and drops those that the database rejects: they would hold up all others for ever. */
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

  /** Rows that could not be written go before those added in the meantime. */
  #putBack(entry: Waiting, rows: readonly LogRow[], shared: SharedRow | undefined): void {
    entry.rows = [...rows, ...entry.rows]
    entry.shared = joined(shared, entry.shared)
    if (entry.rows.length > 0 || entry.shared) this.#due.add(entry)
  }
}
