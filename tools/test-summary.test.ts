import { describe, expect, test } from 'bun:test'
import { failures, skippedTests, tally, tallyAll } from './test-summary.mjs'

const run = (counts: string) => `a.test.ts:\n(pass) a\n 7 pass\n\n${counts}\nRan 9 tests across 2 files. [29.00ms]\n`

describe('tally', () => {
  test('reads the summary and nothing that only looks like one', () => {
    expect(tally(run(' 2 pass\n 2 skip\n 3 fail\n 1 error\n 1 expect() calls'), 1)).toEqual({ passed: 2, failed: 3 })
    expect(tally(run(' 2 pass\n 0 fail'), 0)).toEqual({ passed: 2, failed: 0 })
  })

  test('reads a coloured summary', () => {
    expect(tally(run('\u001b[32m 2 pass\u001b[0m\n\u001b[2m 0 fail\u001b[0m'), 0)).toEqual({ passed: 2, failed: 0 })
  })

  test('counts a run that ended early as a failure', () => {
    expect(tally('bun test v1\n\n(pass) a\n', 0)).toMatchObject({ passed: 0, failed: 1 })
    expect(tally('', 139)).toMatchObject({ passed: 0, failed: 1 })
  })

  test('counts an exit code without a failed test as a failure', () => {
    expect(tally(run(' 2 pass\n 0 fail'), 1)).toMatchObject({ passed: 2, failed: 1 })
  })

  test('reports a run without tests', () => {
    expect(tally(run(' 0 pass\n 0 fail'), 0)).toEqual({ passed: 0, failed: 0, note: 'No test ran.' })
  })
})

describe('tallyAll', () => {
  const good = { output: run(' 2 pass\n 0 fail'), code: 0, signal: null }

  test('adds up parallel runs', () => {
    const other = { output: run(' 5 pass\n 3 fail'), code: 1, signal: null }
    expect(tallyAll([good, other])).toEqual({ passed: 7, failed: 3, notes: [] })
  })

  test('counts a killed run as a failure, even next to a run that passed', () => {
    const killed = { output: '(pass) a\n', code: null, signal: 'SIGKILL' }
    const { notes, ...counts } = tallyAll([good, killed])
    expect(counts).toEqual({ passed: 2, failed: 1 })
    expect(notes).toEqual([expect.stringContaining('(SIGKILL)')])
  })
})

describe('failures', () => {
  const output = `bun test v1

a.test.ts:
(pass) one
(fail) two [1.42ms]

b.test.ts:
(pass) three
hello
\u001b[31merror\u001b[0m: expected 2
(fail) four
(pass) five

2 tests failed:
error: expected 2
(fail) four
`

  test('lists each failed test once, with its file and its output', () => {
    expect(failures(output)).toEqual([
      'a.test.ts:\n(fail) two [1.42ms]',
      'b.test.ts:\nhello\nerror: expected 2\n(fail) four',
    ])
  })

  test('returns nothing for a run without failures', () => {
    expect(failures('a.test.ts:\n(pass) one\n')).toEqual([])
  })
})

test('skipped tests are listed with their file, their group and their reason', () => {
  const junit = `<testsuite><testcase name="ok" classname="g" file="a.test.ts" />
    <testcase name="needs&#10;&quot;PostgreSQL&quot;" classname="g &amp; h" time="0" file="a.test.ts" line="2">
      <skipped />
    </testcase>
    <testcase name="later" classname="" file="b.test.ts"><skipped message="TODO" /></testcase></testsuite>`
  expect(skippedTests(junit)).toEqual(['a.test.ts: g & h > needs "PostgreSQL"', 'b.test.ts: later'])
})
