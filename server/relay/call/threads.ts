/** Where an answer was made: only there a thread can go on from it. */
export interface ThreadPlace {
  readonly channelId: number
  readonly key: string
}

/** Which channel and key gave the answers that threads of the Messages API go on from. */
export interface Threads {
  note(tokenId: number, messageId: string, place: ThreadPlace): void
  find(tokenId: number, messageId: string): ThreadPlace | undefined
}

const keptMs = 24 * 3_600_000
const mostAnswers = 50_000

/** Keeps them in the memory of this process alone: a thread that is forgotten is made anew by the caller's program. */
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
      const found = places.get(`${tokenId} ${messageId}`)
      return found && found.untilMs > nowMs() ? found.place : undefined
    },
  }
}
