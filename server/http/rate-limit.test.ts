import { expect, test } from 'bun:test'
import { createRateLimiter } from './rate-limit.ts'

function limiter(limit: number, windowMs: number, maxKeys?: number) {
  const time = { ms: 1_000_000 }
  return { time, limiter: createRateLimiter({ limit, windowMs }, { nowMs: () => time.ms }, maxKeys) }
}

test('allows calls up to the limit, refuses the next, and gives a correct time to retry', () => {
  const { time, limiter: it } = limiter(20, 100_000)
  for (let i = 0; i < 20; i++) expect(it.take('a')).toBe(0)
  const wait = it.take('a')
  expect(wait).toBeGreaterThan(0)
  time.ms += wait * 1000
  expect(it.take('a')).toBe(0)
})

test('at every point of a window, the next call is allowed after the reported wait', () => {
  for (const offset of [0, 1, 30_000, 99_999]) {
    const { time, limiter: it } = limiter(3, 100_000)
    for (let i = 0; i < 3; i++) it.take('a')
    time.ms += 100_000 + offset
    while (it.take('a') === 0);
    time.ms += it.take('a') * 1000
    expect(it.take('a')).toBe(0)
  }
})

test('never admits twice the limit around the boundary between two windows', () => {
  const { time, limiter: it } = limiter(10, 100_000)
  time.ms = 1_099_000
  for (let i = 0; i < 10; i++) it.take('a')
  time.ms = 1_101_000
  expect(it.take('a')).toBeGreaterThan(0)
})

test('keys are independent; a reset removes a key', () => {
  const { limiter: it } = limiter(1, 1000)
  expect(it.take('a')).toBe(0)
  expect(it.take('b')).toBe(0)
  expect(it.wait('a')).toBeGreaterThan(0)
  it.reset('a')
  expect(it.wait('a')).toBe(0)
})

test('a limit of 0 turns the limiter off', () => {
  const { limiter: it } = limiter(0, 1000)
  for (let i = 0; i < 100; i++) expect(it.take('a')).toBe(0)
})

test('removes the oldest keys if there are more than the maximum', () => {
  const { limiter: it } = limiter(1, 1000, 2)
  for (const key of ['a', 'b', 'c']) it.take(key)
  expect(it.wait('a')).toBe(0)
  expect(it.wait('c')).toBeGreaterThan(0)
})
