import { expect, test } from 'bun:test'
import { InTurn } from './in-turn.mjs'

test('the output of parallel processes is printed completely, in the order of the processes', () => {
  const out: string[] = []
  const stream = { write: (chunk: string) => out.push(chunk) }
  const printed = new InTurn()
  printed.print(1, stream, 'b1')
  printed.print(0, stream, 'a1')
  printed.print(2, stream, 'c1')
  printed.end(1)
  expect(out).toEqual(['a1'])
  printed.print(0, stream, 'a2')
  printed.end(0)
  expect(out).toEqual(['a1', 'a2', 'b1', 'c1'])
  printed.print(2, stream, 'c2')
  printed.end(2)
  expect(out.slice(4)).toEqual(['c2'])
})
