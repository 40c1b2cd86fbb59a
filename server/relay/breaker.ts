/** Passive health per channel and model: closed (healthy), open (left alone), half-open (one call tries). */
export interface Breaker {
  /** Whether the channel may be called now; a half-open one admits a single call at a time. */
  allows(channelId: number, model: string): boolean
  succeeded(channelId: number, model: string): void
  /** An upstream fault. The caller's own mistakes must not be reported here. */
  failed(channelId: number, model: string): void
  /** A half-open trial that ended without a verdict (the caller left, say). */
  undecided(channelId: number, model: string): void
  /** Leaves the channel alone for a time that it asked for itself. */
  rest(channelId: number, model: string, pauseMs: number): void
  /** States other than closed, for metrics. */
  snapshot(): { channelId: number; model: string; state: 'open' | 'half-open' }[]
}

interface Health {
  failuresInRow: number
  openUntilMs: number
  /** Times it opened without a success between; the pause doubles with each. */
  openings: number
  trialSinceMs: number
}

const failuresToOpen = 5
const firstPauseMs = 5_000
const longestPauseMs = 300_000
/** A trial that never reported back does not block the channel for longer than this. */
const trialLifeMs = 120_000

export function createBreaker(nowMs: () => number): Breaker {
  const states = new Map<string, Health>()
  const keyOf = (channelId: number, model: string) => `${channelId}\n${model}`

  return {
    allows(channelId, model) {
      const health = states.get(keyOf(channelId, model))
      if (!health || health.openUntilMs === 0) return true
      const now = nowMs()
      if (now < health.openUntilMs) return false
      if (health.trialSinceMs !== 0 && now - health.trialSinceMs < trialLifeMs) return false
      health.trialSinceMs = now
      return true
    },
    succeeded: (channelId, model) => void states.delete(keyOf(channelId, model)),
    failed(channelId, model) {
      const key = keyOf(channelId, model)
      const health = states.get(key) ?? { failuresInRow: 0, openUntilMs: 0, openings: 0, trialSinceMs: 0 }
      states.set(key, health)
      health.failuresInRow++
      const wasTrial = health.trialSinceMs !== 0
      health.trialSinceMs = 0
      if (wasTrial || health.failuresInRow >= failuresToOpen) {
        health.openUntilMs = nowMs() + Math.min(longestPauseMs, firstPauseMs * 2 ** health.openings)
        health.openings++
        health.failuresInRow = 0
      }
    },
    undecided(channelId, model) {
      const health = states.get(keyOf(channelId, model))
      if (health) health.trialSinceMs = 0
    },
    rest(channelId, model, pauseMs) {
      const key = keyOf(channelId, model)
      const health = states.get(key) ?? { failuresInRow: 0, openUntilMs: 0, openings: 0, trialSinceMs: 0 }
      states.set(key, health)
      health.openUntilMs = Math.max(health.openUntilMs, nowMs() + pauseMs)
    },
    snapshot() {
      const now = nowMs()
      return [...states]
        .filter(([, health]) => health.openUntilMs !== 0)
        .map(([key, health]) => {
          const [channelId = '0', model = ''] = key.split('\n')
          return {
            channelId: Number(channelId),
            model,
            state: now < health.openUntilMs ? ('open' as const) : ('half-open' as const),
          }
        })
    },
  }
}
