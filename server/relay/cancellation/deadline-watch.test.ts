import { expect, spyOn, test } from 'bun:test'
import { systemClock } from '../../lib/clock.ts'
import { createDeadlineWatch } from './deadline-watch.ts'

test('the timer stops when no call has been open for a while, and starts again for the next call', async () => {
  const { promise: stopped, resolve: stop } = Promise.withResolvers<void>()
  const clear = globalThis.clearInterval
  const clearing = spyOn(globalThis, 'clearInterval').mockImplementation((timer) => {
    clear(timer as Timer)
    stop()
  })
  const watch = createDeadlineWatch(systemClock, 1)
  try {
    watch.begin()
    watch.end()
    await stopped
    const beforeMs = watch.nowMs()
    const { promise: over, resolve: due } = Promise.withResolvers<void>()
    const wait = { dueAtMs: watch.nowMs() + 5, due }
    watch.add(wait)
    await over
    expect(watch.nowMs()).toBeGreaterThanOrEqual(beforeMs + 5)
    watch.remove(wait)
  } finally {
    watch.close()
    clearing.mockRestore()
  }
})
