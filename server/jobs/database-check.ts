import { spawn } from 'node:child_process'
import type { DatabaseState } from '../events.ts'
import { ownProgram } from '../lib/program-files.ts'

interface Check {
  /** The time limit of the check. */
  timeMs: number
  /** Called once. */
  report(state: DatabaseState, detail: string): void
}

/** The command that starts the separate process. */
export const quickCheckCommand = 'quick-check'

/**
 * Checks the SQLite database at startup. A separate process does this, so that the server is not blocked. The separate
 * process is killed when this process exits or when its time is up.
 */
export function checkDatabase({ timeMs, report }: Check): void {
  const child = spawn(process.execPath, [...ownProgram, quickCheckCommand], { stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  let isLate = false
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => {
      if (output.length < 2000) output += chunk.toString()
    })
  const timer = setTimeout(() => {
    isLate = true
    child.kill('SIGKILL')
  }, timeMs)
  timer.unref()
  const end = () => child.kill('SIGKILL')
  process.once('exit', end)
  child.once('error', (error) => {
    output += String(error)
  })
  child.once('close', (code) => {
    clearTimeout(timer)
    process.off('exit', end)
    if (isLate) report('unknown', `it was not done in ${timeMs / 1000} seconds`)
    else report(code === 0 ? 'sound' : code === 3 ? 'damaged' : 'unknown', output.trim())
  })
}
