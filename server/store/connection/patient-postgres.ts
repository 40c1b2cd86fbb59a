import pg from 'pg'
import { runningTimer } from '../../lib/running-timer.ts'

/**
 * Limits on waiting for the database, in milliseconds; 0 = no limit. Only time during which this process runs counts.
 * The driver's own timers would fire as soon as a stopped process continues, before it has read the data that arrived
 * in the meantime.
 */
export interface Patience {
  /** The limit for getting a connection, whether it must be opened or another caller must release it. */
  connectLimitMs: number
  /** The limit for the response to a query without its own `limitMs`. */
  queryLimitMs: number
}

/** A query with its own limit. */
export type LimitedQuery = pg.QueryConfig & { limitMs: number }

type Callback = (error: unknown, ...rest: unknown[]) => void

/** Members of the driver's client that its types do not declare. */
interface Inner {
  readonly connection: { readonly stream: { destroy(error?: Error): void } }
}

/**
 * A client of the driver that applies the limits of `Patience`. On a timeout it fails with the driver's own message,
 * and its connection is closed.
 */
export class PatientClient extends pg.Client {
  readonly #patience: Patience

  constructor(options: pg.ClientConfig & Patience) {
    super(options)
    this.#patience = options
    this.connect = this.#connecting(this.connect.bind(this) as never) as never
    this.query = this.#asking(this.query.bind(this) as never) as never
  }

  #connecting(connect: (callback?: Callback) => unknown) {
    return (callback?: Callback) => {
      const end = this.#limit(this.#patience.connectLimitMs, 'timeout expired')
      if (!callback) return (connect() as Promise<unknown>).finally(end)
      return connect((...answer) => {
        end()
        callback(...answer)
      })
    }
  }

  #asking(query: (...args: unknown[]) => unknown) {
    return (...args: unknown[]) => {
      const [config] = args as [{ limitMs?: number } | string]
      const limitMs = (typeof config === 'object' && config.limitMs) || this.#patience.queryLimitMs
      const callback = args.at(-1)
      if (typeof callback !== 'function') return this.#inTime(limitMs, () => query(...args))
      const end = this.#limit(limitMs, 'Query read timeout')
      return query(...args.slice(0, -1), (...answer: Parameters<Callback>) => {
        end()
        ;(callback as Callback)(...answer)
      })
    }
  }

  #inTime(limitMs: number, ask: () => unknown): unknown {
    const end = this.#limit(limitMs, 'Query read timeout')
    const answer = ask()
    if (answer instanceof Promise) return answer.finally(end)
    end()
    return answer
  }

  /** Closes the connection when the time is up. Everything that waits for the connection then fails. */
  #limit(limitMs: number, message: string): () => void {
    if (limitMs <= 0) return () => undefined
    return runningTimer(limitMs, () => (this as unknown as Inner).connection.stream.destroy(new Error(message)))
  }
}

/** A pool of `PatientClient` objects. Waiting for a free client has the same limit as opening a new one. */
export class PatientPool extends pg.Pool {
  readonly #limitMs: number

  constructor(options: pg.PoolConfig & Patience) {
    super({ ...options, Client: PatientClient } as unknown as pg.PoolConfig)
    this.#limitMs = options.connectLimitMs
    this.connect = this.#waiting(this.connect.bind(this) as never) as never
  }

  /** Removes a caller that has given up, so that the next free connection goes to another caller. */
  #forget(answer: Callback): void {
    const { _pendingQueue: waiting } = this as unknown as { _pendingQueue: { callback: Callback }[] }
    const at = waiting.findIndex(({ callback }) => callback === answer)
    if (at >= 0) waiting.splice(at, 1)
  }

  #waiting(connect: (callback: Callback) => void) {
    const wait = (callback: Callback) => {
      let isOver = false
      const answer: Callback = (error, client, ...rest) => {
        end()
        if (!isOver) callback(error, client, ...rest)
        else (client as pg.PoolClient | undefined)?.release()
      }
      const end = runningTimer(this.#limitMs, () => {
        isOver = true
        this.#forget(answer)
        callback(new Error('timeout exceeded when trying to connect'))
      })
      connect(answer)
    }
    return (callback?: Callback) => {
      if (callback) return wait(callback)
      return new Promise((resolve, reject) => wait((error, client) => (error ? reject(error) : resolve(client))))
    }
  }
}
