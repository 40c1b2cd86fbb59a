import { afterAll, describe, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  balance,
  deal,
  fileSeconds,
  filesWithoutTime,
  keepTimes,
  readTimes,
  sampledFiles,
  sampledSeconds,
  slowest,
  testFiles,
} from './test-shares.mjs'

const folder = mkdtempSync(join(tmpdir(), 'tollgate-shares-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('deal', () => {
  test('adds each file to one list, starting with the longest file and always choosing the shortest list', () => {
    const seconds = { long: 10, middle: 6, short: 5, shorter: 3 }
    expect(deal(['short', 'long', 'shorter', 'middle'], seconds, 2)).toEqual([
      ['long', 'shorter'],
      ['middle', 'short'],
    ])
  })

  test('distributes files without a recorded time, and creates no empty list', () => {
    expect(deal(['a', 'b', 'c'], {}, 2).flat().toSorted()).toEqual(['a', 'b', 'c'])
    expect(deal(['a'], {}, 4)).toEqual([['a']])
  })
})

test('finds the tests in every folder, and nothing else', () => {
  mkdirSync(join(folder, 'one/two'), { recursive: true })
  for (const name of ['one/a.test.ts', 'one/two/b.test.tsx', 'one/two/c.ts', 'one/d.test.md'])
    writeFileSync(join(folder, name), '')
  expect(testFiles(folder, ['./one/'])).toEqual(['./one/a.test.ts', './one/two/b.test.tsx'])
})

test('a seed selects a third of the long tests and all other files, and many seeds together select every file', () => {
  const long = Array.from({ length: 90 }, (_, at) => `./test/${at % 2 === 0 ? 'e2e' : 'backup'}/page-${at}.test.ts`)
  const always = ['./server/a.test.ts', './test/e2e/first-call.test.ts', './test/e2e/screens.test.ts']
  const files = [...long, ...always]
  const chosen = sampledFiles(files, '7')
  expect(chosen).toEqual(expect.arrayContaining(always))
  expect(chosen.length).toBeGreaterThan(20)
  expect(chosen.length).toBeLessThan(50)
  expect(sampledFiles(files, '7')).toEqual(chosen)
  const many = Array.from({ length: 40 }, (_, seed) => sampledFiles(files, String(seed)))
  expect(new Set(many.flat()).size).toBe(files.length)
})

test('the time of a file is taken from its own suite, not from the groups inside it', () => {
  const junit = `<testsuites time="9"><testsuite name="a.test.ts" file="a.test.ts" time="2.345">
    <testsuite name="group" file="a.test.ts" time="1.5"><testcase name="b" file="a.test.ts" time="1" /></testsuite>
    </testsuite><testsuite name="c/d.test.ts" file="c/d.test.ts" time="0.04"></testsuite></testsuites>`
  expect(fileSeconds(junit)).toEqual({ './a.test.ts': 2.3, './c/d.test.ts': 0 })
  expect(fileSeconds('')).toEqual({})
})

test('times are kept from run to run, and a file that cannot be parsed counts as empty', () => {
  const path = join(folder, 'cache/times.json')
  expect(readTimes(path)).toEqual({})
  keepTimes(path, { './a.test.ts': 3, './b.test.ts': 1 })
  keepTimes(path, { './a.test.ts': 4 })
  expect(readTimes(path)).toEqual({ './a.test.ts': 4, './b.test.ts': 1 })
  writeFileSync(path, '{')
  expect(readTimes(path)).toEqual({})
})

test('the slowest files come first', () => {
  expect(slowest({ './a': 1, './b': 123.4, './c': 2 }, 2)).toEqual(['  123.4 s  b', '    2.0 s  c'])
})

test('the report says how long each process took, and which slow files have no recorded time', () => {
  expect(balance([12.4, 99.6])).toBe('The processes took 12 s, 100 s.')
  expect(filesWithoutTime({ './a': 30, './b': 30, './c': 1 }, { './a': 2 })).toEqual(['b'])
})

test('during development, a sweep is expected to take about a tenth of its full time', () => {
  const sampled = sampledSeconds({ './test/e2e/screens.test.ts': 500, './test/e2e/token.test.ts': 50 })
  expect(sampled).toEqual({ './test/e2e/screens.test.ts': 55, './test/e2e/token.test.ts': 50 })
})
