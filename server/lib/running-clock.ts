import type { Clock } from './clock.ts'

/** A step that takes longer than this was no step: the process did not run. */
const longestStepMs = 500

/** Clocks of the machine, which no test moves. */
interface MachineClocks {
  /** Goes on while the process is stopped. */
  monotonicMs(): number
  /** Goes on while the whole machine is stopped, too. */
  wallMs(): number
}

const machineClocks: MachineClocks = { monotonicMs: () => performance.now(), wallMs: () => Date.now() }

/**
 * A clock that stands still while this process does: stopped by a signal, with its machine, or by long work of its own.
 * Nobody's silence can be heard then, so waits are measured by it. It must be read every few hundred milliseconds: what
 * lies further apart counts as a pause.
 */
export class RunningClock implements Clock {
  readonly #clock: Clock
  readonly #machine: MachineClocks
  #monotonicMs: number
  #wallMs: number
  #pausedMs = 0

  constructor(clock: Clock, machine: MachineClocks = machineClocks) {
    this.#clock = clock
    this.#machine = machine
    this.#monotonicMs = machine.monotonicMs()
    this.#wallMs = machine.wallMs()
  }

  /** As the clock below would say it if there had been no pauses. */
  nowMs(): number {
    const monotonicMs = this.#machine.monotonicMs()
    const wallMs = this.#machine.wallMs()
    const stepMs = Math.max(monotonicMs - this.#monotonicMs, wallMs - this.#wallMs)
    this.#monotonicMs = monotonicMs
    this.#wallMs = wallMs
    if (stepMs > longestStepMs) this.#pausedMs += stepMs
    return this.#clock.nowMs() - this.#pausedMs
  }
}
