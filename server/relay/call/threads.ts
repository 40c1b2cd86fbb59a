/**
 * The channel and key that produced a response. A thread can continue from the response only with this channel and key.
 */
export interface ThreadKeeper {
  readonly channelId: number
  readonly key: string
}

/** Remembers which channel and key produced each response from which a thread of the Messages API may continue. */
export interface Threads {
  note(tokenId: number, messageId: string, keeper: ThreadKeeper): void
  find(tokenId: number, messageId: string): ThreadKeeper | undefined
}

const keptMs = 24 * 3_600_000
const mostAnswers = 50_000

/** Keeps threads only in this process's memory. If a thread is forgotten, the caller's app creates it again. */
export function createThreads(nowMs: () => number): Threads {
  const keepers = new Map<string, { keeper: ThreadKeeper; untilMs: number }>()
  return {
    note(tokenId, messageId, keeper) {
      keepers.set(`${tokenId} ${messageId}`, { keeper, untilMs: nowMs() + keptMs })
      for (const [oldest, { untilMs }] of keepers) {
        if (keepers.size <= mostAnswers && untilMs > nowMs()) break
        keepers.delete(oldest)
      }
    },
    find(tokenId, messageId) {
      const entry = keepers.get(`${tokenId} ${messageId}`)
      return entry && entry.untilMs > nowMs() ? entry.keeper : undefined
    },
  }
}
