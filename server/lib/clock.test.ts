import { expect, test } from 'bun:test'
import { RunningClock } from './clock.ts'

function machine() {
  const time = { ms: 1_000_000, monotonicMs: 0, wallMs: 50 }
  const clock = new RunningClock(
    { nowMs: () => time.ms },
    { monotonicMs: () => time.monotonicMs, wallMs: () => time.wallMs },
  )
  return {
    clock,
    time,
    /** Lets time pass on every clock. */
    passes(ms: number) {
      time.ms += ms
      time.monotonicMs += ms
      time.wallMs += ms
    },
  }
}

test('RunningClock follows the underlying clock while the process runs', () => {
  const { clock, passes } = machine()
  for (let step = 0; step < 10; step++) {
    passes(250)
    expect(clock.nowMs()).toBe(1_000_000 + 250 * (step + 1))
  }
})

test('RunningClock does not advance while the process is stopped', () => {
  const { clock, passes } = machine()
  passes(60_000)
  expect(clock.nowMs()).toBe(1_000_000)
  passes(250)
  expect(clock.nowMs()).toBe(1_000_250)
  passes(3_000)
  expect(clock.nowMs()).toBe(1_000_250)
})

test('RunningClock does not advance while the whole machine is stopped, which only the wall clock shows', () => {
  const { clock, time } = machine()
  time.ms += 60_000
  time.wallMs += 60_000
  expect(clock.nowMs()).toBe(1_000_000)
})

test('RunningClock follows a manual change of the system time', () => {
  const { clock, time } = machine()
  time.ms += 60_000
  expect(clock.nowMs()).toBe(1_060_000)
})
