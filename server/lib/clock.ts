/** The current time, passed in so that tests can change it. */
export interface Clock {
  nowMs(): number
}

export const systemClock: Clock = { nowMs: () => Date.now() }

/** Epoch seconds, the unit of every stored time. */
export function epochSeconds(clock: Clock): number {
  return Math.floor(clock.nowMs() / 1000)
}
