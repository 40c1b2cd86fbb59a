/**
 * Simulates the faults of Failover Bench in real time on a new installation with two channels: `npm run bench:faults`.
 * With `-- --write`, the table in docs/reliability.md is replaced. Exits with 1 if a fault does not pass.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { type Fault, faults } from '../../test/failover/faults.ts'
import { startStage } from '../../test/failover/stage.ts'

const page = 'docs/reliability.md'
const [start, end] = ['<!-- faults: start -->', '<!-- faults: end -->']

interface Result {
  fault: Fault
  result: 'pass' | 'fail' | 'not yet'
  what: string
}

async function play(fault: Fault): Promise<Result> {
  if (!fault.play) return { fault, result: 'not yet', what: `needs ${fault.needs}` }
  await using stage = await startStage('real', fault.needs === 'StreamRescue' ? { StreamRescue: 'true' } : {})
  try {
    return { fault, result: 'pass', what: await fault.play(stage) }
  } catch (error) {
    return { fault, result: 'fail', what: error instanceof Error ? error.message : String(error) }
  }
}

function tableOf(results: readonly Result[]): string {
  const rows = results.map(
    ({ fault: { id, name, passes }, result, what }) => `| ${id} | ${name} | ${passes} | ${result} | ${what} |`,
  )
  return ['| | Fault | Passes if | Result | What came of it |', '|---|---|---|---|---|', ...rows].join('\n')
}

const results: Result[] = []
for (const fault of faults) {
  const done = await play(fault)
  results.push(done)
  console.log(`${done.result.padEnd(7)} ${fault.id} ${fault.name}: ${done.what}`)
}
const passed = results.filter(({ result }) => result === 'pass').length
console.log(`${passed} of ${results.length} pass`)
if (process.argv.includes('--write')) {
  const text = readFileSync(page, 'utf8')
  const [before = '', rest = ''] = text.split(start)
  const after = rest.split(end)[1] ?? ''
  writeFileSync(page, `${before}${start}\n${tableOf(results)}\n${end}${after}`)
}
process.exit(results.some(({ result }) => result === 'fail') ? 1 : 0)
