import pg from 'pg'
import type { Notice, NoticeListener, Notices } from './store.ts'

const channel = 'tollgate'
const reconnectDelayMs = 1000

/**
 * LISTEN/NOTIFY on a connection of its own. When the connection is lost notices may have been missed: listeners get
 * `reconnected` and drop everything they cache.
 */
export function postgresNotices(url: string, pool: pg.Pool): Notices {
  const listeners: NoticeListener[] = []
  let client: pg.Client | undefined
  let closed = false
  let connecting = false

  const tell = (notice: Notice | 'reconnected') => Promise.all(listeners.map((listener) => listener(notice)))

  async function connect(): Promise<void> {
    if (closed) return
    const next = new pg.Client({ connectionString: url })
    const lost = () => {
      if (client !== next && client !== undefined) return
      client = undefined
      next.removeAllListeners('end')
      setTimeout(() => void connect(), reconnectDelayMs).unref()
    }
    next.on('error', lost)
    next.on('end', lost)
    next.on('notification', (message) => void tell(JSON.parse(message.payload ?? '{}') as Notice))
    try {
      await next.connect()
      await next.query(`LISTEN ${channel}`)
      client = next
      // The first time too: something may have changed between reading and listening.
      void tell('reconnected')
    } catch {
      lost()
    }
  }

  return {
    async publish(notice) {
      // Own caches first: the caller of the change must see it even when the listening connection is down.
      const told = tell(notice)
      // Not on the listening connection: while that one is down, the other nodes must hear of it all the same.
      await pool.query('SELECT pg_notify($1, $2)', [channel, JSON.stringify(notice)])
      await told
    },
    subscribe(listener) {
      listeners.push(listener)
      if (!connecting) void connect()
      connecting = true
    },
    async close() {
      closed = true
      client?.removeAllListeners('end')
      await client?.end().catch(() => undefined)
    },
  }
}
