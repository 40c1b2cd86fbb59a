import { describe, expect, test } from 'bun:test'
import { chosen, faultKinds, faultsIn, planted } from './faults.ts'

const changes = (text: string) =>
  faultsIn('a.ts', text).map(({ kind, before, after }) => `${kind}: ${before} → ${after}`.trim())

describe('the faults of a file', () => {
  test('change operators, conditions, bounds, numbers and awaits', () => {
    expect(changes('const a = b === c && !d')).toEqual(['operator: && → ||', 'operator: === → !==', 'operator: ! →'])
    expect(changes('if (a) b()')).toEqual(['condition: a → true', 'condition: a → false'])
    expect(changes('const a = b < c')).toEqual(['off by one: < → <='])
    expect(changes('const a = [7]')).toEqual(['off by one: 7 → 8'])
    expect(changes('async function f() { await g() }')).toEqual(['dropped await: await  →'])
  })

  test('are never in types, imports or strings', () => {
    expect(changes("import { a } from './a1.ts'\ntype B = 1 | 2\ninterface C { d: 3 }\nconst e: 4 | 5 = f")).toEqual([])
    expect(changes("const a = 'b' + c")).toEqual([])
  })

  test('do not include changes without any effect', () => {
    expect(changes('async function f() { return await g() }')).toEqual([])
    expect(changes('async function f() { try { return await g() } catch {} }')).toEqual(['dropped await: await  →'])
  })

  test('are planted where they were found', () => {
    const text = 'const a = 1\nconst b = a === c'
    const [, fault] = faultsIn('a.ts', text)
    expect([fault?.line, fault && planted(text, fault)]).toEqual([2, 'const a = 1\nconst b = a !== c'])
  })
})

describe('the chosen faults', () => {
  const text = `${'if (a) b(c === d)\n'.repeat(20)}${'async () => { await f(1) }\n'.repeat(20)}`
  const all = faultsIn('a.ts', text)

  test('include the same number of each kind, and do not change if the seed is the same', () => {
    const some = chosen(all, 8, 5)
    for (const kind of faultKinds) expect(some.filter((fault) => fault.kind === kind)).toHaveLength(2)
    expect(chosen(all, 8, 5)).toEqual(some)
    expect(chosen(all, 8, 6)).not.toEqual(some)
  })

  test('include every fault if more are requested than exist', () => {
    expect(chosen(all, 10_000, 5)).toHaveLength(all.length)
  })
})
