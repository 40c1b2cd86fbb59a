import * as z from 'zod/mini'
import { type Log, logSchema } from '../../../contract/api/log.ts'
import { type Access, mayAccess } from '../../../contract/roles.ts'
import type { AppContext, Person } from '../../http/app-env.ts'
import type { Sessions } from '../../http/session.ts'
import type { LogTail } from '../../jobs/log-tail.ts'
import { isWanted, type OutcomeFilter } from '../../store/logs/log-outcome.ts'
import type { LogRow } from '../../store/logs/log-pages.ts'
import { ofGroups, rowsAfter } from '../../store/logs/log-tail.ts'
import type { Store } from '../../store/store.ts'
import type { RowFilter } from '../../store/usage/usage-series.ts'

const reconnectMs = 3000
/** The maximum number of rows that wait for a reader. If there are more, the reader is asked to reconnect. */
const mostWaiting = 1000
/**
 * A reader that reconnects gets the rows that it missed: at most `limit` rows, all from the last `depth` rows of the
 * log.
 */
const caughtUp = { limit: 500, depth: 20_000 }

export interface LiveLogs {
  store: Store
  tail: LogTail
  sessions: Sessions
  person: Person
  access: Access
  context: AppContext
  filter: RowFilter & OutcomeFilter
  view(row: LogRow): Log
  /** Called once, when the stream ends. */
  ended(): void
}

type Reason = 'not-allowed' | 'too-slow' | 'shutting-down' | 'failed'

/**
 * Sends matching new rows as server-sent events. Before each delivery, the reader's session, status and role are
 * checked again. A logout, a ban or a lower role therefore ends the stream at the next row or heartbeat.
 */
export async function streamLogs(live: LiveLogs): Promise<Response> {
  const feed = new Feed(live)
  try {
    await feed.begin()
  } catch (error) {
    feed.close()
    throw error
  }
  return new Response(feed.body, {
    headers: {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
    },
  })
}

class Feed {
  readonly body: ReadableStream<Uint8Array>
  readonly #live: LiveLogs
  readonly #encoder = new TextEncoder()
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined
  #stop: () => void = () => undefined
  #timer: ReturnType<typeof setInterval> | undefined
  /** The chain of deliveries, which run one after the other. */
  #work: Promise<void> = Promise.resolve()
  #waiting = 0
  #closed = false

  constructor(live: LiveLogs) {
    this.#live = live
    this.body = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#controller = controller
        },
        cancel: () => this.close(),
      },
      { highWaterMark: mostWaiting },
    )
  }

  async begin(): Promise<void> {
    const { tail, store, filter, context } = this.#live
    this.#send(`retry: ${reconnectMs}\n: new log rows\n\n`)
    // Rows that are written during the lookup of missed rows wait until the missed rows have been delivered.
    let missed: LogRow[] = []
    const ready = Promise.withResolvers<void>()
    this.#work = ready.promise
    this.#stop = await tail.listen({
      rows: (rows) => {
        const wanted = rows.filter((row) => isWanted(row, filter))
        if (wanted.length === 0) return
        this.#queue(async () => {
          const fresh = wanted.filter((row) => !missed.some(({ id }) => id === row.id))
          return ofGroups(store.read, filter, fresh)
        })
      },
      end: () => this.#end('shutting-down'),
    })
    if (this.#closed) this.#stop()
    const id = Number(context.req.header('last-event-id') ?? Number.NaN)
    try {
      if (Number.isSafeInteger(id) && id >= 0) missed = await rowsAfter(store, filter, { id, ...caughtUp })
      this.#deliver(missed)
    } finally {
      ready.resolve()
    }
    this.#timer = setInterval(() => this.#queue(() => []), tail.heartbeatMs)
    this.#timer.unref()
    context.req.raw.signal.addEventListener('abort', () => this.close(), { once: true })
  }

  close(): void {
    if (this.#closed) return
    this.#closed = true
    clearInterval(this.#timer)
    this.#stop()
    this.#live.ended()
  }

  #queue(rowsNow: () => readonly LogRow[] | Promise<readonly LogRow[]>): void {
    if (this.#waiting >= mostWaiting) {
      this.#end('too-slow')
      return
    }
    this.#waiting++
    this.#work = this.#work
      .then(async () => {
        this.#waiting--
        const rows = await rowsNow()
        if (this.#closed) return
        if (!(await this.#mayRead())) this.#end('not-allowed')
        else if (rows.length === 0) this.#send(': still here\n\n')
        else this.#deliver(rows)
      })
      .catch(() => this.#end('failed'))
  }

  /** True while the reader is still the same person with the same rights. */
  async #mayRead(): Promise<boolean> {
    const { sessions, context, person, access } = this.#live
    const now = await sessions.identify(context)
    return now.kind === 'person' && now.person.id === person.id && mayAccess(now.person.role, access)
  }

  #deliver(rows: readonly LogRow[]): void {
    for (const row of rows) {
      if ((this.#controller?.desiredSize ?? 0) <= 0) {
        this.#end('too-slow')
        return
      }
      const log = z.parse(logSchema, this.#live.view(row))
      this.#send(`id: ${row.id}\ndata: ${JSON.stringify(log)}\n\n`)
    }
  }

  #end(reason: Reason): void {
    if (this.#closed) return
    this.#send(`event: end\ndata: ${JSON.stringify({ reason })}\n\n`)
    this.close()
    this.#controller?.close()
  }

  #send(text: string): void {
    if (!this.#closed) this.#controller?.enqueue(this.#encoder.encode(text))
  }
}
