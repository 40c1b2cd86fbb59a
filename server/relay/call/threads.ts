/** The channel and key that produced a response. A thread can continue from the response only there. */
export interface ThreadPlace {
  readonly channelId: number
  readonly key: string
}

/** Remembers which channel and key produced the responses that threads of the Messages API continue from. */
export interface Threads {
  note(tokenId: number, messageId: string, place: ThreadPlace): void
  find(tokenId: number, messageId: string): ThreadPlace | undefined
}

const keptMs = 24 * 3_600_000
const mostAnswers = 50_000

/** Keeps threads only in this process's memory. If a thread is forgotten, the caller's program creates it again. */
export function createThreads(nowMs: () => number): Threads {
  const places = new Map<string, { place: ThreadPlace; untilMs: number }>()
  return {
    note(tokenId, messageId, place) {
      places.set(`${tokenId} ${messageId}`, { place, untilMs: nowMs() + keptMs })
      for (const [oldest, { untilMs }] of places) {
        if (places.size <= mostAnswers && untilMs > nowMs()) break
        places.delete(oldest)
      }
    },
    find(tokenId, messageId) {
      const entry = places.get(`${tokenId} ${messageId}`)
      return entry && entry.untilMs > nowMs() ? entry.place : undefined
    },
  }
}
