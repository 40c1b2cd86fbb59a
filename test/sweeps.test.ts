// Which tenth of a long sweep is run during development.
import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { bunSync } from '../tools/bun.mjs'

const helper = join(import.meta.dir, 'helpers/sweeps.ts')
const script = `import { swept } from ${JSON.stringify(helper)}
const all = Array.from({ length: 1000 }, (_, at) => 'case ' + at)
console.log(JSON.stringify([swept(all, (each) => each), swept(['one'], (each) => each)]))`

function chosen(seed: string | undefined): [many: string[], one: string[]] {
  const { SWEEP_SEED: _seed, ...env } = process.env
  const { stdout } = bunSync(['-e', script], { env: seed === undefined ? env : { ...env, SWEEP_SEED: seed } })
  return JSON.parse(String(stdout)) as [string[], string[]]
}

test('without a seed, every case is run', () => {
  expect(chosen(undefined)[0]).toHaveLength(1000)
})

test('a seed chooses about a tenth of the cases, the same ones each time, and at least one case', () => {
  const [many, one] = chosen('7')
  expect(many.length).toBeGreaterThan(60)
  expect(many.length).toBeLessThan(140)
  expect(chosen('7')[0]).toEqual(many)
  expect(one).toEqual(['one'])
})

test('another seed chooses other cases, and many seeds together choose every case', () => {
  const seeds = Array.from({ length: 100 }, (_, at) => chosen(String(at))[0])
  expect(seeds[1]).not.toEqual(seeds[2] as string[])
  expect(new Set(seeds.flat()).size).toBe(1000)
})
