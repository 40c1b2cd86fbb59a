import { spawn } from 'node:child_process'
import { bunEnvironment, findBun } from '../bun.mjs'

export type TestsOutcome = 'passed' | 'failed' | 'too slow'

/** Runs "bun test" with these files or flags in a checkout. Tests that take longer than `limitMs` are killed. */
export function runTests(tree: string, args: readonly string[], limitMs: number): Promise<TestsOutcome> {
  const child = spawn(findBun(), ['test', '--timeout=60000', ...args], {
    cwd: tree,
    env: bunEnvironment,
    stdio: 'ignore',
    detached: true,
  })
  return new Promise((resolve, reject) => {
    let isLate = false
    const timer = setTimeout(() => {
      isLate = true
      // This also kills everything that the tests have started.
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
    }, limitMs)
    child.once('error', reject)
    child.once('exit', (code) => {
      clearTimeout(timer)
      resolve(isLate ? 'too slow' : code === 0 ? 'passed' : 'failed')
    })
  })
}
