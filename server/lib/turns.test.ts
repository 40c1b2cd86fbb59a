import { expect, test } from 'bun:test'
import { Turns } from './turns.ts'

test('one turn is given in each round of the event loop, in the order in which the turns were requested', async () => {
  const turns = new Turns()
  const order: string[] = []
  const round = () => new Promise<void>((resolve) => setImmediate(resolve))
  const work = async (name: string) => {
    for (let step = 1; step <= 2; step++) {
      await turns.next()
      order.push(`${name}${step}`)
    }
  }
  const both = Promise.all([work('a'), work('b')])
  const given: number[] = []
  for (let rounds = 0; rounds < 3; rounds++) {
    await round()
    given.push(turns.count)
  }
  await both
  expect(order).toEqual(['a1', 'b1', 'a2', 'b2'])
  // No round had two turns.
  expect(given.every((count, index) => count <= index + 1)).toBe(true)
  expect(turns.count).toBe(4)
})
