/**
 * The position of a call in its queue, and the limits of its wait. The position is `ticket`, a number from the
 * database.
 */
export interface Turn {
  ticket: number
  deadlineMs: number
  signal: AbortSignal
  tokenId: number
}

/**
 * The queues in which calls of this process wait for a place on a full channel. A place is capacity for one call. The
 * database determines the order of the calls. Only the first call of each queue asks the database for a place.
 */
export interface ChannelLine {
  /**
   * Waits in the queue `name`. Calls `attempt` whenever it may succeed and the call is the first in its queue. Resolves
   * with the result of `attempt`, or with undefined if the waiting time is over or the caller has disconnected.
   */
  wait<T>(name: string, turn: Turn, attempt: () => Promise<T | undefined>): Promise<T | undefined>
  /** Must be called when a call of this process has freed its place. */
  placeFreed(): void
  /** The number of calls that wait, in total or for one token. */
  waiting(tokenId?: number): number
}

interface Waiter {
  ticket: number
  attempt(): Promise<boolean>
  fail(error: unknown): void
  /**
   * Ends the wait without a place. Not called while an attempt is in progress, because that attempt may still succeed.
   */
  giveUp(): void
  isOver: boolean
}

interface Line {
  waiters: Waiter[]
  /** The waiter whose attempt is in progress. */
  asking: Waiter | undefined
  /** True if a place has been freed since the last attempt began. */
  freed: boolean
  wake(): void
}

/**
 * The interval at which the first call in each queue tries again. It is needed because other processes do not notify
 * this one when they free a place.
 */
const pollMs = 25
const sayEveryMs = 1000

export interface LineDeps {
  nowMs(): number
  /** Records in the database that the calls of this process are still waiting. Must not throw. */
  sayWaiting(): Promise<void>
}

export function createChannelLine({ nowMs, sayWaiting }: LineDeps): ChannelLine {
  const lines = new Map<string, Line>()
  const byToken = new Map<number, number>()
  let waiting = 0
  let timer: ReturnType<typeof setInterval> | undefined

  function count(tokenId: number, more: 1 | -1): void {
    waiting += more
    const ofToken = (byToken.get(tokenId) ?? 0) + more
    if (ofToken > 0) byToken.set(tokenId, ofToken)
    else byToken.delete(tokenId)
    if (waiting > 0) timer ??= setInterval(() => void sayWaiting(), sayEveryMs)
    else if (timer) {
      clearInterval(timer)
      timer = undefined
    }
  }

  async function serve(name: string, line: Line): Promise<void> {
    for (;;) {
      const [first] = line.waiters
      if (!first) break
      line.freed = false
      line.asking = first
      let isDone = true
      try {
        isDone = await first.attempt()
      } catch (error) {
        first.fail(error)
      }
      line.asking = undefined
      if (isDone || first.isOver) {
        line.waiters.splice(line.waiters.indexOf(first), 1)
        if (!isDone) first.giveUp()
        continue
      }
      // A call with an earlier ticket may have joined the queue during the attempt.
      if (line.freed || line.waiters[0] !== first) continue
      await new Promise<void>((resolve) => {
        const poll = setTimeout(resolve, pollMs)
        line.wake = () => {
          clearTimeout(poll)
          resolve()
        }
      })
    }
    lines.delete(name)
  }

  function join(name: string, waiter: Waiter): Line {
    const line = lines.get(name) ?? { waiters: [], asking: undefined, freed: false, wake: () => undefined }
    const after = line.waiters.findIndex(({ ticket }) => ticket > waiter.ticket)
    line.waiters.splice(after < 0 ? line.waiters.length : after, 0, waiter)
    if (!lines.has(name)) {
      lines.set(name, line)
      void serve(name, line)
    }
    return line
  }

  return {
    waiting: (tokenId) => (tokenId === undefined ? waiting : (byToken.get(tokenId) ?? 0)),
    placeFreed() {
      for (const line of lines.values()) {
        line.freed = true
        line.wake()
      }
    },
    async wait<T>(name: string, turn: Turn, attempt: () => Promise<T | undefined>): Promise<T | undefined> {
      count(turn.tokenId, 1)
      let end = () => {}
      try {
        return await new Promise<T | undefined>((resolve, reject) => {
          const waiter: Waiter = {
            ticket: turn.ticket,
            isOver: false,
            async attempt() {
              const value = await attempt()
              if (value !== undefined) resolve(value)
              return value !== undefined
            },
            fail: reject,
            giveUp: () => resolve(undefined),
          }
          const line = join(name, waiter)
          const stop = () => {
            waiter.isOver = true
            const index = line.waiters.indexOf(waiter)
            if (line.asking === waiter || index < 0) return
            line.waiters.splice(index, 1)
            line.wake()
            waiter.giveUp()
          }
          const timeout = setTimeout(stop, Math.max(0, turn.deadlineMs - nowMs()))
          turn.signal.addEventListener('abort', stop)
          end = () => {
            clearTimeout(timeout)
            turn.signal.removeEventListener('abort', stop)
          }
          if (turn.signal.aborted) stop()
        })
      } finally {
        end()
        count(turn.tokenId, -1)
      }
    },
  }
}
