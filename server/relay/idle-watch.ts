/** A wait of unknown length that wants to be told when it has lasted for some time. */
export interface IdleWait {
  /** When to be told, in milliseconds of the clock; may be moved while watched. */
  dueAtMs: number
  due(): void
}

/** One timer for all open streams: a timer of its own for each chunk of each stream would cost more than the chunk. */
export interface IdleWatch {
  add(wait: IdleWait): void
  remove(wait: IdleWait): void
  close(): void
}

export function createIdleWatch(nowMs: () => number, tickMs = 250): IdleWatch {
  const waits = new Set<IdleWait>()
  const timer = setInterval(() => {
    const now = nowMs()
    for (const wait of waits) if (wait.dueAtMs <= now) wait.due()
  }, tickMs)
  timer.unref()
  return {
    add: (wait) => void waits.add(wait),
    remove: (wait) => void waits.delete(wait),
    close: () => clearInterval(timer),
  }
}
