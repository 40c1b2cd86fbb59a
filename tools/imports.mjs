// Runs dependency-cruiser, and fails if it did not read every source file. This matters because without a usable
// compiler, dependency-cruiser reads no TypeScript at all and reports success.
import { execFile } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { bunEnvironment, findBun, root } from './bun.mjs'

const folders = ['contract', 'server', 'console', 'test', 'bench', 'tools']
const skipped = new Set(['node_modules', 'fixtures', 'peer', 'dist'])

function sourceFiles(base, folder) {
  if (!existsSync(join(base, folder))) return []
  return readdirSync(join(base, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`
    if (entry.isDirectory()) return skipped.has(entry.name) ? [] : sourceFiles(base, path)
    return /\.(?:tsx?|mjs)$/.test(entry.name) ? [path] : []
  })
}

function run(base, present) {
  const program = join(root, 'node_modules/dependency-cruiser/bin/dependency-cruise.mjs')
  const args = ['--bun', program, '--config', '.dependency-cruiser.mjs', '--output-type', 'json', ...present]
  return new Promise((done, fail) => {
    execFile(findBun(), args, { cwd: base, env: bunEnvironment, maxBuffer: 1 << 28 }, (error, stdout, stderr) => {
      if (stdout.startsWith('{')) done(JSON.parse(stdout))
      else fail(new Error(`dependency-cruiser gave no result: ${stderr || error?.message}`))
    })
  })
}

/**
 * @typedef {{ rule: string, from: string, to: string, comment: string }} Violation
 * @returns {Promise<{ violations: Violation[], cruised: number, expected: number, unseen: string[] }>}
 */
export async function cruise(base = root) {
  const present = folders.filter((folder) => existsSync(join(base, folder)))
  const expected = present.flatMap((folder) => sourceFiles(base, folder))
  const result = await run(base, present)
  const seen = new Set(result.modules.map((module) => module.source))
  const violations = result.summary.violations.map(({ rule, from, to, cycle }) => ({
    rule: rule.name,
    from,
    to: cycle ? cycle.map((step) => step.name ?? step).join(' → ') : to,
    comment: result.summary.ruleSetUsed.forbidden.find((known) => known.name === rule.name)?.comment ?? '',
  }))
  return {
    violations,
    cruised: seen.size,
    expected: expected.length,
    unseen: expected.filter((file) => !seen.has(file)),
  }
}

if (process.argv[1] && resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const { violations, expected, unseen } = await cruise()
  for (const { rule, from, to, comment } of violations) console.log(`${rule}: ${from} → ${to}\n    ${comment}`)
  if (unseen.length > 0)
    console.log(`Not read: ${unseen.slice(0, 5).join(', ')} (${unseen.length} of ${expected} files)`)
  if (expected === 0) console.log('No source file was found.')
  process.exit(violations.length > 0 || unseen.length > 0 || expected === 0 ? 1 : 0)
}
