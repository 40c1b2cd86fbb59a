import { describe, expect, test } from 'bun:test'
import { hashNumber } from '../../lib/quick-hash.ts'
import { type ChannelCost, inOrder, type Ordered } from './channel-order.ts'
import { createLatencies } from './latencies.ts'
import type { Candidate } from './routing-table.ts'

const level = [1, 2, 3, 4].map((id) => ({ channel: { id, weight: 1 }, priority: 0 })) as unknown as Candidate[]
const idsOf = (groups: readonly (readonly Candidate[])[]) =>
  groups.map((group) => group.map(({ channel }) => channel.id))
const call: Ordered = { model: 'm', isStream: true }

function source(costs: ReadonlyMap<number, number> = new Map(), chance = 0.5) {
  const time = { ms: 0 }
  const latencies = createLatencies(() => time.ms)
  const channelCost: ChannelCost = ({ id }) => costs.get(id)
  return { time, latencies, channelCost, random: () => chance }
}

describe('inOrder', () => {
  test('by weight, returns all channels in one group', () => {
    expect(idsOf(inOrder('weight', level, call, source(new Map([[1, 5]]))))).toEqual([[1, 2, 3, 4]])
  })

  test('by cost, groups channels of equal cost, cheapest first, and puts channels of unknown cost last', () => {
    const costs = new Map([
      [1, 3],
      [2, 1],
      [4, 1],
    ])
    expect(idsOf(inOrder('cost', level, call, source(costs)))).toEqual([[2, 4], [1], [3]])
    expect(idsOf(inOrder('cost', level, call, source()))).toEqual([[1, 2, 3, 4]])
  })

  test('by latency, puts the fastest channel first, together with channels that are up to 20% slower', () => {
    const deps = source()
    expect(idsOf(inOrder('latency', level, call, deps))).toEqual([[1, 2, 3, 4]])
    for (const [channelId, ms] of [
      [1, 100],
      [2, 120],
      [3, 121],
    ] as const)
      deps.latencies.note({ channelId, model: 'm', isStream: true }, ms)
    expect(idsOf(inOrder('latency', level, call, deps))).toEqual([
      [1, 2],
      [3, 4],
    ])
    // The latencies of complete responses and of other models have not been measured.
    expect(idsOf(inOrder('latency', level, { ...call, isStream: false }, deps))).toEqual([[1, 2, 3, 4]])
    expect(idsOf(inOrder('latency', level, { ...call, model: 'n' }, deps))).toEqual([[1, 2, 3, 4]])
  })

  test('by latency, uses only the weight for one in twenty calls without a session, and always for the same sessions', () => {
    const explored = source(undefined, 0.049)
    const usual = source(undefined, 0.05)
    for (const deps of [explored, usual]) deps.latencies.note({ channelId: 2, model: 'm', isStream: true }, 10)
    expect(idsOf(inOrder('latency', level, call, explored))).toEqual([[1, 2, 3, 4]])
    expect(idsOf(inOrder('latency', level, call, usual))).toEqual([[2], [1, 3, 4]])
    const sessions = Array.from({ length: 2000 }, (_, index) => hashNumber(1, index))
    const exploring = sessions.filter((session) => inOrder('latency', level, { ...call, session }, usual).length === 1)
    expect(exploring.length).toBeWithin(70, 131)
  })
})

describe('Latencies.median', () => {
  const what = { channelId: 1, model: 'm', isStream: true }

  test('returns the median of the last five minutes, or undefined if there were no responses', () => {
    const { latencies, time } = source()
    expect(latencies.median(what)).toBeUndefined()
    for (const ms of [10, 1000, 30, 20, 40]) latencies.note(what, ms)
    expect(latencies.median(what)).toBe(30)
    time.ms += 200_000
    latencies.note(what, 500)
    expect(latencies.median(what)).toBe(30)
    time.ms += 100_000
    expect(latencies.median(what)).toBe(500)
    time.ms += 200_000
    expect(latencies.median(what)).toBeUndefined()
    latencies.note(what, 7)
    expect(latencies.median(what)).toBe(7)
  })

  test('uses only the newest 64 responses', () => {
    const { latencies, time } = source()
    for (let count = 0; count < 64; count++) latencies.note(what, 100)
    for (let count = 0; count < 40; count++) latencies.note(what, 5)
    time.ms += 1_000
    expect(latencies.median(what)).toBe(5)
  })
})
