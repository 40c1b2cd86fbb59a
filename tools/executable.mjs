// npm run executable: makes a single executable file that contains the runtime, the server and the console. Without
// arguments, it is made for this machine. For other platforms, use "npm run executable -- linux-arm64 darwin-arm64".
import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { bunEnvironment, findBun, root } from './bun.mjs'
import { buildConsoleIfStale } from './console-build.mjs'
import { ensureInstalled } from './install.mjs'
import { serverProgram } from './server-build.mjs'

/** The platforms of a release, each with the package that contains Bun for it. */
export const platforms = {
  'linux-x64': 'bun-linux-x64',
  'linux-arm64': 'bun-linux-aarch64',
  'darwin-x64': 'bun-darwin-x64',
  'darwin-arm64': 'bun-darwin-aarch64',
  'windows-x64': 'bun-windows-x64',
}
const ownPlatform = `${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`

/** Downloads Bun for another platform from npm, in the version of the lock file. Returns the path of the binary. */
function bunFor(platform, folder) {
  const { version } = JSON.parse(readFileSync(join(root, 'node_modules/bun/package.json'), 'utf8'))
  const download = (command, args) => {
    const result = spawnSync(command, args, { cwd: folder, encoding: 'utf8', shell: process.platform === 'win32' })
    if (result.status !== 0) throw new Error(`Bun for ${platform} cannot be downloaded: ${result.stderr}`)
  }
  download('npm', ['pack', `@oven/${platforms[platform]}@${version}`, '--loglevel=error'])
  const tarball = readdirSync(folder).find((name) => name.endsWith('.tgz'))
  download('tar', ['-xzf', tarball])
  return join(folder, 'package/bin', platform.startsWith('windows') ? 'bun.exe' : 'bun')
}

/** Makes the executable for a platform and returns its path. */
export async function buildExecutable(platform = ownPlatform) {
  if (!Object.hasOwn(platforms, platform))
    throw new Error(`There is no platform ${platform}. The platforms are ${Object.keys(platforms).join(', ')}.`)
  ensureInstalled()
  await buildConsoleIfStale()
  serverProgram()
  const dist = join(root, 'dist')
  const target = join(dist, 'executables')
  mkdirSync(target, { recursive: true })
  const folder = mkdtempSync(join(dist, '.bun-'))
  try {
    const runtime = platform === ownPlatform ? findBun() : bunFor(platform, folder)
    const file = join(target, `tollgate-${platform}${platform.startsWith('windows') ? '.exe' : ''}`)
    // main.js is the program that starts, and it loads the others. Compiled code starts in half the time. Bun's
    // settings files in the current folder are ignored, because they are not ours.
    const programs = readdirSync(dist).filter((name) => name.endsWith('.js') && name !== 'main.js')
    const options = ['--compile', '--format=esm', '--bytecode', '--asset=console', '--no-compile-autoload-bunfig']
    const args = ['build', ...options, 'main.js', ...programs, '--outfile', file]
    const from = ['--compile-executable-path', runtime]
    const result = spawnSync(findBun(), [...args, ...from], { cwd: dist, env: bunEnvironment, encoding: 'utf8' })
    if (result.status !== 0 || !existsSync(file)) throw new Error(`The build failed: ${result.stderr}${result.stdout}`)
    chmodSync(file, 0o755)
    return file
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

if (process.argv[1] && resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const wanted = process.argv.slice(2)
  for (const platform of wanted.length > 0 ? wanted : [ownPlatform]) {
    const file = await buildExecutable(platform)
    console.log(`${file} (${Math.round(statSync(file).size / 1e6)} MB)`)
  }
}
