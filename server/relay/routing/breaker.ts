/**
 * Passive health per channel and model: closed (healthy), open (no calls), half-open (one trial call). Calls are
 * identified by request id, because calls other than the trial may be in progress.
 */
export interface Breaker {
  /** Whether the channel may be called now. When half-open, the breaker allows one call at a time. */
  allows(channelId: number, model: string, requestId: string): boolean
  /** Whether the channel is left alone now. Unlike `allows`, it does not begin a trial. */
  isOpen(channelId: number, model: string): boolean
  succeeded(channelId: number, model: string): void
  /** An upstream fault. The caller's own mistakes must not be reported here. */
  failed(channelId: number, model: string, requestId: string, why?: string): void
  /**
   * A call that ended without a verdict (for example, because the caller disconnected). If it was the trial, another
   * call can be the next trial.
   */
  undecided(channelId: number, model: string, requestId: string): void
  /** Stops calling the channel for the pause that it asked for. */
  rest(channelId: number, model: string, pauseMs: number, why?: string): void
  /** States other than closed, for metrics. */
  snapshot(): { channelId: number; model: string; state: 'open' | 'half-open' }[]
  /** Forgets the channels that no longer exist. */
  keepOnly(isKept: (channelId: number) => boolean): void
}

/** A period in which a channel is not called for one model. */
export interface CoolDown {
  channelId: number
  model: string
  pauseMs: number
  /** Text for people: what happened, and the last failure's message. */
  reason: string
}

interface Health {
  failuresInRow: number
  openUntilMs: number
  /** How often the breaker has opened without a success in between. The pause doubles each time. */
  openings: number
  /** The trial call while half-open. */
  trial: { requestId: string; sinceMs: number } | undefined
  /** The end of the pause that the channel asked for. Such a pause says nothing about the channel's health. */
  restUntilMs: number
}

const failuresToOpen = 5
const firstPauseMs = 5_000
const longestPauseMs = 300_000
/** A trial that never reports back does not block the channel for longer than this. */
const trialLifeMs = 120_000

/** `cooled` is called whenever a cool-down of a channel begins. */
export function createBreaker(nowMs: () => number, cooled: (event: CoolDown) => void = () => undefined): Breaker {
  const states = new Map<string, Health>()
  const keyOf = (channelId: number, model: string) => `${channelId}\n${model}`
  const stateOf = (channelId: number, model: string) => {
    const key = keyOf(channelId, model)
    const health = states.get(key) ?? {
      failuresInRow: 0,
      openUntilMs: 0,
      openings: 0,
      trial: undefined,
      restUntilMs: 0,
    }
    states.set(key, health)
    return health
  }

  // Usually every channel is healthy, so no map key has to be made.
  const known = (channelId: number, model: string) =>
    states.size === 0 ? undefined : states.get(keyOf(channelId, model))

  return {
    allows(channelId, model, requestId) {
      const health = known(channelId, model)
      if (!health) return true
      const now = nowMs()
      if (now < health.restUntilMs || now < health.openUntilMs) return false
      if (health.openUntilMs === 0) return true
      if (health.trial && now - health.trial.sinceMs < trialLifeMs) return false
      health.trial = { requestId, sinceMs: now }
      return true
    },
    isOpen(channelId, model) {
      const health = known(channelId, model)
      return health !== undefined && nowMs() < Math.max(health.restUntilMs, health.openUntilMs)
    },
    succeeded(channelId, model) {
      const health = known(channelId, model)
      if (!health) return
      const { restUntilMs } = health
      states.delete(keyOf(channelId, model))
      // A call that was already in progress says nothing about a pause that was requested after it began.
      if (restUntilMs > nowMs()) stateOf(channelId, model).restUntilMs = restUntilMs
    },
    failed(channelId, model, requestId, why = '') {
      const health = stateOf(channelId, model)
      const isTrial = health.trial?.requestId === requestId
      // A failure says nothing new if its call was in progress when the breaker opened, or was sent only because there
      // was no other channel. Such a failure does not decide the trial.
      if (nowMs() < health.openUntilMs || (health.trial && !isTrial)) return
      health.trial = undefined
      health.failuresInRow++
      if (isTrial || health.failuresInRow >= failuresToOpen) {
        const pauseMs = Math.min(longestPauseMs, firstPauseMs * 2 ** health.openings)
        health.openUntilMs = nowMs() + pauseMs
        const what = isTrial ? 'the retry failed' : `${failuresToOpen} requests in a row failed`
        cooled({ channelId, model, pauseMs, reason: why === '' ? what : `${what}: ${why}` })
        health.openings++
        health.failuresInRow = 0
      }
    },
    undecided(channelId, model, requestId) {
      const health = known(channelId, model)
      if (health?.trial?.requestId === requestId) health.trial = undefined
    },
    rest(channelId, model, pauseMs, why = '') {
      const health = stateOf(channelId, model)
      if (health.restUntilMs <= nowMs()) {
        const what = 'the provider asked for a pause'
        cooled({ channelId, model, pauseMs, reason: why === '' ? what : `${what}: ${why}` })
      }
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
    keepOnly(isKept) {
      for (const key of states.keys()) if (!isKept(Number(key.slice(0, key.indexOf('\n'))))) states.delete(key)
    },
  }
}
