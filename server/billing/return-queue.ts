/** A queue of calls that wait, in order of arrival, for quota that other calls of the same account give back. */
export interface ReturnQueue {
  /**
   * Waits until this call is the first in the account's queue. Then it calls `attempt` immediately, each time quota is
   * given back, and at short intervals. It stops when the attempt is done, or when nothing has changed for
   * `patienceMs`. A change is quota given back in this process, or a different `state`. Resolves with the value of the
   * last attempt.
   */
  wait<T>(account: string, patienceMs: number, attempt: () => Promise<Attempt<T>>): Promise<T>
  /** Announces that quota was given back to an account. */
  returned(account: string): void
  /** True while calls of any account are waiting. */
  isWaitedFor(): boolean
}

/** The result of one attempt. */
interface Attempt<T> {
  value: T
  done: boolean
  /**
   * A text that represents the state of the account. If it differs from the previous state, quota was taken or given
   * back, perhaps on another node.
   */
  state: string
}

interface Line {
  /** Wakes the first waiter. */
  wake: () => void
  waiting: number
  /** Resolves when the previous waiter has left the queue. */
  tail: Promise<void>
  /** The time of the account's last change, from which `patienceMs` counts. */
  movedAtMs: number
  /** The state at the last attempt. */
  state: string
  /** True if quota was given back since the last attempt began. */
  returned: boolean
}

/** Other processes give quota back without notifying this one, so the first waiter also polls. */
const pollMs = 25

export function createReturnQueue(nowMs: () => number): ReturnQueue {
  const lines = new Map<string, Line>()

  return {
    async wait(account, patienceMs, attempt) {
      const line = lines.get(account) ?? {
        wake: () => undefined,
        waiting: 0,
        tail: Promise.resolve(),
        movedAtMs: nowMs(),
        state: '',
        returned: false,
      }
      lines.set(account, line)
      line.waiting++
      if (line.waiting === 1) line.movedAtMs = nowMs()
      const before = line.tail
      let leave = () => {}
      line.tail = new Promise((resolve) => {
        leave = resolve
      })
      await before
      try {
        return await tryUntilDone(line, patienceMs, attempt)
      } finally {
        line.waiting--
        if (line.waiting === 0) lines.delete(account)
        leave()
      }
    },
    isWaitedFor: () => lines.size > 0,
    returned(account) {
      const line = lines.get(account)
      if (!line) return
      line.movedAtMs = nowMs()
      line.returned = true
      line.wake()
    },
  }

  async function tryUntilDone<T>(line: Line, patienceMs: number, attempt: () => Promise<Attempt<T>>): Promise<T> {
    for (;;) {
      line.returned = false
      const { value, done, state } = await attempt()
      if (state !== line.state) line.movedAtMs = nowMs()
      line.state = state
      if (done || nowMs() - line.movedAtMs >= patienceMs) return value
      if (line.returned) continue
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, pollMs)
        line.wake = () => {
          clearTimeout(timer)
          resolve()
        }
      })
    }
  }
}
