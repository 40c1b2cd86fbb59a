/**
 * Records which channels have just broken a stream of a session. The broken call could not be retried on another
 * channel, because its response had begun. Without this record, the next call of the session would use the same channel
 * again. Each process has its own record, as for the health of channels.
 */
export interface SessionRests {
  /** Makes the session prefer other channels for `restMs`. */
  begin(session: number, channelId: number, model: string): void
  isResting(session: number | undefined, channelId: number, model: string): boolean
}

/** How long the session prefers other channels. It is as long as the longest pause of a breaker. */
const restMs = 20_000
/** When this many entries are stored, the expired ones are deleted. If none has expired, no more are added. */
const mostRemembered = 10_000

export function createSessionRests(nowMs: () => number): SessionRests {
  const untilMs = new Map<string, number>()
  const nameOf = (session: number, channelId: number, model: string) => `${session} ${channelId} ${model}`

  return {
    begin(session, channelId, model) {
      const now = nowMs()
      if (untilMs.size >= mostRemembered)
        for (const [name, end] of untilMs) {
          if (end > now) break
          untilMs.delete(name)
        }
      if (untilMs.size >= mostRemembered) return
      const name = nameOf(session, channelId, model)
      // The entry is deleted first, so that it moves to the end and the oldest entries are always at the beginning.
      untilMs.delete(name)
      untilMs.set(name, now + restMs)
    },
    isResting(session, channelId, model) {
      // Usually the map is empty, so no name has to be built.
      if (untilMs.size === 0 || session === undefined) return false
      return (untilMs.get(nameOf(session, channelId, model)) ?? 0) > nowMs()
    },
  }
}
