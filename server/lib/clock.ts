/** A source of the current time. It is passed to the code that needs it, so that tests can set the time. */
export interface Clock {
  nowMs(): number
}

export const systemClock: Clock = { nowMs: () => Date.now() }

/** The current time in epoch seconds, the unit of every stored time. */
export function epochSeconds(clock: Clock): number {
  return Math.floor(clock.nowMs() / 1000)
}

/** The longest time between two readings, in milliseconds, that counts as time in which the process ran. */
const longestStepMs = 500

/** The real clocks of the machine. Unlike the time of a `Clock`, tests cannot set them. */
interface MachineClocks {
  /** Continues while the process is stopped. */
  monotonicMs(): number
  /** Continues even while the whole machine is stopped. */
  wallMs(): number
}

const machineClocks: MachineClocks = { monotonicMs: () => performance.now(), wallMs: () => Date.now() }

/**
 * A clock that advances only while this process runs. It does not advance while a signal has stopped the process, while
 * the machine is stopped, or while the process is busy with long work. Timeouts for other systems are measured with
 * this clock, because during a pause, the process cannot know whether another system sends anything. The clock must be
 * read every few hundred milliseconds, because a gap of more than `longestStepMs` between two readings counts as a
 * pause.
 */
export class RunningClock implements Clock {
  readonly #clock: Clock
  readonly #machine: MachineClocks
  /** True if the underlying clock is the wall clock, so that it need not be read twice. */
  readonly #isWall: boolean
  #monotonicMs: number
  #wallMs: number
  #pausedMs = 0
  #lastMs = 0

  constructor(clock: Clock, machine: MachineClocks = machineClocks) {
    this.#clock = clock
    this.#machine = machine
    this.#isWall = clock === systemClock && machine === machineClocks
    this.#monotonicMs = machine.monotonicMs()
    this.#wallMs = machine.wallMs()
    this.#lastMs = this.#wallMs
  }

  /** The time of the underlying clock, minus all pauses. */
  nowMs(): number {
    const wallMs = this.#machine.wallMs()
    // Most readings come within a millisecond of the previous one. In that case, only one clock is read instead of
    // three.
    if (this.#isWall && wallMs === this.#wallMs) return this.#lastMs
    const monotonicMs = this.#machine.monotonicMs()
    const stepMs = Math.max(monotonicMs - this.#monotonicMs, wallMs - this.#wallMs)
    this.#monotonicMs = monotonicMs
    this.#wallMs = wallMs
    if (stepMs > longestStepMs) this.#pausedMs += stepMs
    this.#lastMs = (this.#isWall ? wallMs : this.#clock.nowMs()) - this.#pausedMs
    return this.#lastMs
  }
}
