/** The current time, passed in so that tests can change it. */
export interface Clock {
  nowMs(): number
}

export const systemClock: Clock = { nowMs: () => Date.now() }

/** Epoch seconds, the unit of every stored time. */
export function epochSeconds(clock: Clock): number {
  return Math.floor(clock.nowMs() / 1000)
}

/** A longer step means that the process did not run. */
const longestStepMs = 500

/** The clocks of the machine, as opposed to a `Clock`, whose time tests can set. */
interface MachineClocks {
  /** Continues while the process is stopped. */
  monotonicMs(): number
  /** Continues while the whole machine is stopped, too. */
  wallMs(): number
}

const machineClocks: MachineClocks = { monotonicMs: () => performance.now(), wallMs: () => Date.now() }

/**
 * A clock that stands still while this process does: when it is stopped by a signal, when its machine is stopped, or
 * when it is busy with long work. During that time the process cannot tell whether others are silent, so waits are
 * measured by this clock. It must be read every few hundred milliseconds: a longer gap counts as a pause.
 */
export class RunningClock implements Clock {
  readonly #clock: Clock
  readonly #machine: MachineClocks
  /** The underlying clock is the wall clock, so that it need not be read twice. */
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
    // Most readings come within a millisecond of the previous one, and one clock is cheaper to read than three.
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
