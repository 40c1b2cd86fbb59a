// The only file that finds and starts Bun. Bun's npm package is a stub until its install script has run, and npm may
// be configured not to run install scripts. Even then, the platform package contains the real binary.
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, statSync } from 'node:fs'
import { constants } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = resolve(dirname(fileURLToPath(import.meta.url)), '..')

const executable = process.platform === 'win32' ? 'bun.exe' : 'bun'
const architecture = process.arch === 'arm64' ? 'aarch64' : process.arch
const platform = process.platform === 'win32' ? 'windows' : process.platform

/** Whether a file is the runtime, which has about 100 MB. A stub has a few hundred bytes of shell. */
function isRuntime(file) {
  return existsSync(file) && statSync(file).size > 1_000_000
}

export function findBun(base = root) {
  const packages = ['', '-musl', '-android', '-baseline'].map((suffix) =>
    join('@oven', `bun-${platform}-${architecture}${suffix}`, 'bin', executable),
  )
  // If Tollgate itself is an installed package, npm may have put Bun next to it.
  const above = basename(dirname(base)) === 'node_modules' ? [dirname(base)] : []
  const found = [join(base, 'node_modules'), ...above]
    .flatMap((folder) => ['bun/bin/bun.exe', ...packages].map((file) => join(folder, file)))
    .find(isRuntime)
  if (!found) {
    throw new Error(`No Bun for ${process.platform}-${process.arch} under ${base}/node_modules: run "npm install".`)
  }
  return found
}

// The server's settings for the JavaScript engine's garbage collector. The collector runs when the heap has grown by
// 30 % since the last collection, but not while the heap is below 64 MiB. By default, the engine lets a heap triple on
// a large machine, and it overestimates the memory of thousands of open streams. The last setting keeps compiled code,
// no matter how old it is.
export const serverEngine = {
  BUN_JSC_heapGrowthFunctionThresholdInMB: '0',
  BUN_JSC_heapGrowthMaxIncrease: '0.3',
  BUN_JSC_largeHeapSize: String(64 * 1024 * 1024),
  BUN_JSC_forceCodeBlockLiveness: '1',
}

// Environment variables that Bun reads before the program starts; setting them inside the program has no effect. 65535
// is the highest number of concurrent requests that Bun accepts. If the number is higher, Bun prints an error and uses
// its default of 256. Tools and tests do not use the settings in `serverEngine`, which would increase their CPU time by
// a sixth.
export const bunEnvironment = {
  ...process.env,
  BUN_CONFIG_MAX_HTTP_REQUESTS: process.env.BUN_CONFIG_MAX_HTTP_REQUESTS ?? '65535',
  BUN_FEATURE_FLAG_EXPERIMENTAL_HTTP2_CLIENT: process.env.BUN_FEATURE_FLAG_EXPERIMENTAL_HTTP2_CLIENT ?? '1',
}

// Read at the start, because the parent process may end while packages are installed and the program is built.
const parent = process.ppid

/**
 * Calls `end` when the parent process ends. npm runs scripts in a shell, and a shell that is terminated may exit
 * without passing the signal on to its child.
 */
export function endWithParent(end) {
  if (process.env.npm_lifecycle_event === undefined) return
  const watch = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(watch)
    end()
  }, 250)
  watch.unref()
}

/** Runs Bun on the same terminal, passes signals on, and returns the exit code. */
export function runBun(args, options = {}) {
  const env = { ...serverEngine, ...bunEnvironment }
  const child = spawn(findBun(), args, { cwd: root, env, stdio: 'inherit', ...options })
  let isTold = false
  const pass = (signal) => {
    isTold = true
    // A terminal sends Ctrl-C to the whole process group. If it were also passed on here, it would reach the child
    // twice.
    if (signal !== 'SIGINT' || !process.stdin.isTTY) child.kill(signal)
  }
  process.on('SIGINT', pass).on('SIGTERM', pass)
  // A child that has already received a signal is finishing its work. It gets no SIGTERM, because a second signal would
  // end it immediately.
  endWithParent(() => isTold || pass('SIGTERM'))
  return new Promise((done, fail) => {
    child.on('error', fail)
    child.on('exit', (code, signal) => done(code ?? 128 + (constants.signals[signal] ?? 0)))
  })
}

export function bunSync(args, options = {}) {
  return spawnSync(findBun(), args, { cwd: root, env: bunEnvironment, encoding: 'utf8', ...options })
}

if (process.argv[1] && resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
  // Imported only here, because the package on npm contains this file but not the installer.
  const { ensureInstalled, isForDevelopment } = await import('./install.mjs')
  const [program = ''] = process.argv.slice(2)
  ensureInstalled({ production: !isForDevelopment(program) })
  process.exit(await runBun(process.argv.slice(2)))
}
