import { expect, test } from 'bun:test'
import type { Store } from '../store/store.ts'
import { createPulse } from './pulse.ts'

/** A pulse with a database and a clock that the test controls. */
function pulseAt(startMs: number) {
  const world = { ms: startMs, isAway: false }
  const writeSoon = async () => {
    if (world.isAway) throw new Error('the database is away')
  }
  const store = { dialect: 'postgres', writeSoon } as unknown as Store
  const pulse = createPulse({ store, nodeId: 'this node', clock: { nowMs: () => world.ms } })
  /** Lets time pass in `count` steps, with a heartbeat at the end of each. */
  const beats = async (count: number, everyMs = 5_000) => {
    for (let beat = 0; beat < count; beat++) {
      world.ms += everyMs
      await pulse.beat().catch(() => undefined)
    }
  }
  return { world, pulse, beats }
}

test('a pulse is steady after 25 seconds of heartbeats', async () => {
  const { pulse, beats } = pulseAt(1_000_000)
  expect(pulse.isSteady).toBe(false)
  await beats(1)
  expect(pulse.isSteady).toBe(false)
  await beats(4)
  expect(pulse.isSteady).toBe(false)
  await beats(1)
  expect(pulse.isSteady).toBe(true)
})

test('after a heartbeat that failed, hung or came late, a pulse is steady only after another 25 seconds of heartbeats', async () => {
  const { world, pulse, beats } = pulseAt(1_000_000)
  const steadyAgain = async () => {
    await beats(1)
    expect(pulse.isSteady).toBe(false)
    await beats(4)
    expect(pulse.isSteady).toBe(false)
    await beats(1)
    expect(pulse.isSteady).toBe(true)
  }
  await steadyAgain()
  world.isAway = true
  await beats(1)
  expect(pulse.isSteady).toBe(false)
  world.isAway = false
  await steadyAgain()
  world.ms += 15_000
  expect(pulse.isSteady).toBe(false)
  await steadyAgain()
  await beats(1, 14_000)
  expect(pulse.isSteady).toBe(true)
  await beats(1, 15_000)
  expect(pulse.isSteady).toBe(false)
})
