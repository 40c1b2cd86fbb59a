/**
 * Tracks the health of each pair of channel and model from the results of calls. The states are closed (healthy), open
 * (no calls), half-open (one trial call) and recovering (half of the calls, after a successful trial). The request id
 * shows whether a call is the trial, because other calls may be in progress at the same time.
 */
export interface Breaker {
  /**
   * True if the channel may be called now. In the half-open state, only one call at a time may be made. That call is
   * the trial.
   */
  allows(channelId: number, model: string, requestId: string): boolean
  succeeded(channelId: number, model: string): void
  /** Reports a fault of the upstream. The caller's own mistakes must not be reported here. */
  failed(channelId: number, model: string, requestId: string, why?: string): void
  /**
   * Reports a call whose end says nothing about the health, for example because the caller disconnected. If it was the
   * trial, another call can be the next trial.
   */
  undecided(channelId: number, model: string, requestId: string): void
  /** True while the channel must not be called. Unlike `allows`, this does not begin a trial. */
  isOpen(channelId: number, model: string): boolean
  /** All breakers that are open or half-open, for metrics. */
  snapshot(): { channelId: number; model: string; state: 'open' | 'half-open' }[]
  /** Forgets the channels that no longer exist. */
  keepOnly(isKept: (channelId: number) => boolean): void
}

/** A period in which a channel is not called for one model. */
export interface CoolDown {
  channelId: number
  model: string
  pauseMs: number
  /** A text for operators that describes what happened, with the message of the last failure. */
  reason: string
}

interface Health {
  failuresInRow: number
  openUntilMs: number
  /** How often the breaker has opened since it was last closed. The pause doubles each time. */
  openings: number
  /** True after a successful trial, until another call succeeds or the breaker opens again. */
  isRecovering: boolean
  /** The trial call while half-open. */
  trial: { requestId: string; sinceMs: number } | undefined
}

const failuresToOpen = 5
/** The number of failures in a row that opens the breaker again while a channel is recovering. */
const failuresToReopen = 2
const firstPauseMs = 5_000
/**
 * The longest pause. It is short, so that a channel is soon called again after an outage. A failed trial costs its call
 * one more attempt, but the call is still answered.
 */
const longestPauseMs = 20_000
/** If a trial takes longer than this, another call may be the next trial. */
const trialLifeMs = 20_000
/** The share of its calls that a channel receives while it is recovering. */
const recoveringShare = 0.5

/** `cooled` is called whenever a cool-down of a channel begins. */
export function createBreaker(
  nowMs: () => number,
  random: () => number,
  cooled: (event: CoolDown) => void = () => undefined,
): Breaker {
  const states = new Map<string, Health>()
  const keyOf = (channelId: number, model: string) => `${channelId}\n${model}`
  const stateOf = (channelId: number, model: string) => {
    const key = keyOf(channelId, model)
    const health = states.get(key) ?? {
      failuresInRow: 0,
      openUntilMs: 0,
      openings: 0,
      isRecovering: false,
      trial: undefined,
    }
    states.set(key, health)
    return health
  }

  // Usually every channel is healthy, so the map is empty and no key has to be built.
  const known = (channelId: number, model: string) =>
    states.size === 0 ? undefined : states.get(keyOf(channelId, model))

  return {
    allows(channelId, model, requestId) {
      const health = known(channelId, model)
      if (!health) return true
      const now = nowMs()
      if (now < health.openUntilMs) return false
      if (health.isRecovering) return random() < recoveringShare
      if (health.openUntilMs === 0) return true
      if (health.trial && now - health.trial.sinceMs < trialLifeMs) return false
      health.trial = { requestId, sinceMs: now }
      return true
    },
    succeeded(channelId, model) {
      const health = known(channelId, model)
      if (!health) return
      if (health.openUntilMs === 0 || health.isRecovering) {
        states.delete(keyOf(channelId, model))
        return
      }
      health.isRecovering = true
      health.openUntilMs = 0
      health.failuresInRow = 0
      health.trial = undefined
    },
    failed(channelId, model, requestId, why = '') {
      const health = stateOf(channelId, model)
      const isTrial = health.trial?.requestId === requestId
      // While the breaker is open or a trial is in progress, ignore failures of all calls except the trial. Such a call
      // began before the breaker opened, or was sent because there was no other channel. It does not decide the result
      // of the trial.
      if (nowMs() < health.openUntilMs || (health.trial && !isTrial)) return
      health.trial = undefined
      health.failuresInRow++
      const most = health.isRecovering ? failuresToReopen : failuresToOpen
      if (!isTrial && health.failuresInRow < most) return
      const pauseMs = Math.min(longestPauseMs, firstPauseMs * 2 ** health.openings)
      health.openUntilMs = nowMs() + pauseMs
      health.openings++
      health.failuresInRow = 0
      health.isRecovering = false
      const what = isTrial ? 'the retry failed' : `${most} requests in a row failed`
      cooled({ channelId, model, pauseMs, reason: why === '' ? what : `${what}: ${why}` })
    },
    undecided(channelId, model, requestId) {
      const health = known(channelId, model)
      if (health?.trial?.requestId === requestId) health.trial = undefined
    },
    isOpen(channelId, model) {
      const health = known(channelId, model)
      return health !== undefined && nowMs() < health.openUntilMs
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
    keepOnly(isKept) {
      for (const key of states.keys()) if (!isKept(Number(key.slice(0, key.indexOf('\n'))))) states.delete(key)
    },
  }
}
