import type pg from 'pg'
import type { Notice, NoticeListener, Notices } from '../store.ts'
import { PatientClient } from './patient-postgres.ts'

const channel = 'tollgate'
const reconnectDelayMs = 1000
/** A silent connection may be dead, so it is probed at this interval and must respond within this time. */
const probeEveryMs = 15_000
const answerLimitMs = 10_000

/**
 * LISTEN/NOTIFY on a separate connection. While the connection is lost, notices may be missed. Each time it is
 * restored, listeners therefore get `reconnected` and drop everything that they cache.
 */
export function postgresNotices(url: string, pool: pg.Pool): Notices {
  const listeners: NoticeListener[] = []
  let listening: Promise<void> | undefined
  let closed = false
  /** Ends the current connection, or the pause before the next attempt to connect. */
  let interrupt = () => {}

  const tell = (notice: Notice | 'reconnected') => Promise.all(listeners.map((listener) => listener(notice)))

  /** Runs one listening connection from beginning to end. */
  async function listen(): Promise<void> {
    const client = new PatientClient({
      connectionString: url,
      application_name: 'tollgate listener',
      connectLimitMs: answerLimitMs,
      queryLimitMs: answerLimitMs,
    })
    const { promise: lost, resolve: lose } = Promise.withResolvers<void>()
    client.on('error', () => lose())
    client.on('end', () => lose())
    client.on('notification', ({ payload }) => void tell(parse(payload)))
    interrupt = lose
    let probing: ReturnType<typeof setInterval> | undefined
    const begin = async () => {
      await client.connect()
      await client.query(`LISTEN ${channel}`)
      // Listeners get `reconnected` after the first connection, too, because the data that they read may have changed
      // before this connection began to listen.
      void tell('reconnected')
      probing = setInterval(() => void client.query('select 1').catch(() => lose()), probeEveryMs)
      probing.unref()
      await lost
    }
    try {
      await Promise.race([begin(), lost])
    } catch {
      // The error is ignored, because the next connection may succeed.
    } finally {
      clearInterval(probing)
      // This is not awaited, because the database may no longer respond.
      void client.end().catch(() => undefined)
    }
  }

  async function listenOn(): Promise<void> {
    while (!closed) {
      await listen()
      if (closed) break
      await new Promise<void>((resolve) => {
        interrupt = resolve
        setTimeout(resolve, reconnectDelayMs).unref()
      })
    }
  }

  return {
    async publish(notice) {
      // The listeners in this process are called directly, because the caller who made the change must see it even if
      // the listening connection is down.
      const delivery = tell(notice)
      // The pool is used instead of the listening connection, because the other nodes must receive the notice even
      // while it is down.
      await pool.query('SELECT pg_notify($1, $2)', [channel, JSON.stringify(notice)])
      await delivery
    },
    subscribe(listener) {
      listeners.push(listener)
      listening ??= listenOn()
    },
    async close() {
      closed = true
      interrupt()
      await listening
    },
  }
}

/**
 * Another program may write to the channel. An unreadable message could mean anything, so it counts as `reconnected`.
 */
function parse(payload = ''): Notice | 'reconnected' {
  try {
    const { topic, id } = JSON.parse(payload) as Notice
    return typeof topic === 'string' && typeof id === 'number' ? { topic, id } : 'reconnected'
  } catch {
    return 'reconnected'
  }
}
