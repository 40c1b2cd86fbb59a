// Finds the lines of the server that each test file runs. For this, each test file is run once with coverage.
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runTests } from './run-tests.ts'

/** The lines of each source file that a test file runs, and how long it takes. */
export interface Reach {
  readonly seconds: number
  readonly lines: Readonly<Record<string, readonly number[]>>
}

/**
 * Runs a test file and returns the lines below `server/` that it reaches. Undefined if it fails, because a failing test
 * would seem to notice every fault.
 */
export async function reachOf(tree: string, testFile: string): Promise<Reach | undefined> {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-reach-'))
  try {
    const startedAt = performance.now()
    const coverage = ['--coverage', '--coverage-reporter=lcov', `--coverage-dir=${folder}`]
    const outcome = await runTests(tree, [...coverage, testFile], 300_000)
    if (outcome !== 'passed') return undefined
    const seconds = Math.round((performance.now() - startedAt) / 100) / 10
    // There is no report if a test does not load a source file.
    const report = join(folder, 'lcov.info')
    return { seconds, lines: existsSync(report) ? linesIn(readFileSync(report, 'utf8')) : {} }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** The lines with at least one hit, from a report in lcov format. */
function linesIn(report: string): Record<string, number[]> {
  const found: Record<string, number[]> = {}
  let lines: number[] = []
  for (const row of report.split('\n')) {
    if (row.startsWith('SF:')) {
      const file = row.slice(3).replaceAll('\\', '/')
      lines = []
      if (file.startsWith('server/')) found[file] = lines
    } else if (row.startsWith('DA:')) {
      const [line = 0, hits = 0] = row.slice(3).split(',').map(Number)
      if (hits > 0) lines.push(line)
    }
  }
  return found
}
