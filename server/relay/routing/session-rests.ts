/**
 * Channels that have just broken a stream of a session. Nothing could be tried again for that call, because its response
 * had begun, and the next turn of the session would belong to the same channel. Like the health of a channel, this is
 * known to one process.
 */
export interface SessionRests {
  /** From now on, the session prefers other channels for a while. */
  begin(session: number, channelId: number, model: string): void
  isResting(session: number | undefined, channelId: number, model: string): boolean
}

/** As long as the longest pause of a channel that fails. */
const restMs = 20_000
/** When this many are remembered, those that are over are forgotten. While all of them last, no more are added. */
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
      // Deleted first, so that the oldest are always at the beginning.
      untilMs.delete(name)
      untilMs.set(name, now + restMs)
    },
    isResting(session, channelId, model) {
      // Usually nothing rests, so no name has to be made.
      if (untilMs.size === 0 || session === undefined) return false
      return (untilMs.get(nameOf(session, channelId, model)) ?? 0) > nowMs()
    },
  }
}
