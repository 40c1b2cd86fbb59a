import { expect, test } from 'bun:test'
import { createReturnQueue } from './return-queue.ts'

/** A clock that tests control. */
function clock() {
  const time = { ms: 0 }
  return { time, queue: createReturnQueue(() => time.ms) }
}

/** An `attempt` function that returns the given results in order. `tried` resolves after a number of attempts. */
function scripted(answers: readonly { done: boolean; state?: string }[]) {
  let made = 0
  let tell: () => void = () => {}
  const attempt = async () => {
    const answer = answers[Math.min(made, answers.length - 1)] ?? { done: true }
    made++
    tell()
    return { value: made, done: answer.done, state: answer.state ?? '' }
  }
  const tried = (count: number) =>
    new Promise<void>((resolve) => {
      tell = () => {
        if (made >= count) resolve()
      }
      tell()
    })
  return { attempt, tried, made: () => made }
}

test('the first attempt is made immediately', async () => {
  const { queue } = clock()
  expect(await queue.wait('t1', 1000, scripted([{ done: true }]).attempt)).toBe(1)
})

test('when quota is returned, only the first waiter tries; the next waiter tries when the first is done', async () => {
  const { queue } = clock()
  const first = scripted([{ done: false }, { done: true }])
  const second = scripted([{ done: true }])
  const order: string[] = []
  const both = Promise.all([
    queue.wait('t1', 1000, first.attempt).then(() => order.push('first')),
    queue.wait('t1', 1000, second.attempt).then(() => order.push('second')),
  ])
  await first.tried(1)
  expect(second.made()).toBe(0)
  queue.returned('t1')
  await both
  expect(order).toEqual(['first', 'second'])
})

test('a waiter does not wait for waiters of other accounts', async () => {
  const { queue } = clock()
  const stuck = scripted([{ done: false }, { done: false }, { done: true }])
  const waiting = queue.wait('t1', 1000, stuck.attempt)
  expect(await queue.wait('t2', 1000, scripted([{ done: true }]).attempt)).toBe(1)
  await waiting
})

test('the first waiter also polls, because another process may have given quota back', async () => {
  const { queue } = clock()
  expect(await queue.wait('t1', 1000, scripted([{ done: false }, { done: false }, { done: true }]).attempt)).toBe(3)
})

test('a waiter does not try again until quota is returned or the next poll is due', async () => {
  const { queue } = clock()
  const waiter = scripted([{ done: false }, { done: true }])
  const waiting = queue.wait('t1', 1000, waiter.attempt)
  for (let turn = 0; turn < 10; turn++) await Promise.resolve()
  expect(waiter.made()).toBe(1)
  queue.returned('t1')
  await waiting
  expect(waiter.made()).toBe(2)
})

test('a waiter stops waiting when nothing has changed for patienceMs', async () => {
  const { queue, time } = clock()
  const waiter = scripted([{ done: false }])
  const waiting = queue.wait('t1', 1000, waiter.attempt)
  await waiter.tried(1)
  time.ms = 999
  await waiter.tried(3)
  time.ms = 1000
  expect(await waiting).toBeGreaterThanOrEqual(3)
})

test('patienceMs counts from the last change: quota given back in this process, or a different state of the account', async () => {
  const { queue, time } = clock()
  const waiter = scripted([{ done: false }, { done: false }, { done: false }, { done: false, state: 'moved' }])
  let ended = false
  const waiting = queue.wait('t1', 1000, waiter.attempt).then(() => {
    ended = true
  })
  await waiter.tried(1)
  time.ms = 900
  queue.returned('t1')
  await waiter.tried(3)
  // The fourth attempt, at 1,800, finds a different state.
  time.ms = 1800
  await waiter.tried(5)
  time.ms = 2700
  await waiter.tried(6)
  expect(ended).toBe(false)
  time.ms = 2800
  await waiting
})

test('if the attempt of the first waiter throws, the next waiter tries', async () => {
  const { queue } = clock()
  const failing = queue.wait('t1', 1000, () => Promise.reject(new Error('no database')))
  const next = queue.wait('t1', 1000, scripted([{ done: true }]).attempt)
  await expect(failing).rejects.toThrow('no database')
  expect(await next).toBe(1)
})
