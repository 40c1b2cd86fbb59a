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
  /** Until when the channel asked to be left alone; that says nothing about its health. */
  restUntilMs: number
}

const failuresToOpen = 5
const firstPauseMs = 5_000
const longestPauseMs = 300_000
/** A trial that never reported back does not block the channel for longer than this. */
const trialLifeMs = 120_000

export function createBreaker(nowMs: () => number): Breaker {
  const states = new Map<string, Health>()
  const keyOf = (channelId: number, model: string) => `${channelId}\n${model}`
  const stateOf = (channelId: number, model: string) => {
    const key = keyOf(channelId, model)
    const health = states.get(key) ?? { failuresInRow: 0, openUntilMs: 0, openings: 0, trialSinceMs: 0, restUntilMs: 0 }
    states.set(key, health)
    return health
  }

  // Mostly every channel is well, and then no key has to be made.
  const known = (channelId: number, model: string) =>
    states.size === 0 ? undefined : states.get(keyOf(channelId, model))

  return {
    allows(channelId, model) {
      const health = known(channelId, model)
      if (!health) return true
      const now = nowMs()
      if (now < health.restUntilMs || now < health.openUntilMs) return false
      if (health.openUntilMs === 0) return true
      if (health.trialSinceMs !== 0 && now - health.trialSinceMs < trialLifeMs) return false
      health.trialSinceMs = now
      return true
    },
    succeeded(channelId, model) {
      const health = known(channelId, model)
      if (!health) return
      const { restUntilMs } = health
      states.delete(keyOf(channelId, model))
      // A call that was under way before says nothing about a pause asked for since.
      if (restUntilMs > nowMs()) stateOf(channelId, model).restUntilMs = restUntilMs
    },
    failed(channelId, model) {
      const health = stateOf(channelId, model)
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
      const health = known(channelId, model)
      if (health) health.trialSinceMs = 0
    },
    rest(channelId, model, pauseMs) {
      const health = stateOf(channelId, model)
      health.restUntilMs = Math.max(health.restUntilMs, nowMs() + pauseMs)
    },
    snapshot() {
      const now = nowMs()
      return [...states]
        .filter(([, health]) => health.openUntilMs !== 0 || now < health.restUntilMs)
        .map(([key, health]) => {
          const [channelId = '0', model = ''] = key.split('\n')
          return {
            channelId: Number(channelId),
            model,
            state: now < Math.max(health.openUntilMs, health.restUntilMs) ? ('open' as const) : ('half-open' as const),
          }
        })
    },
  }
}
