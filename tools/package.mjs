// npm run package: makes the package for npm, dist/tollgate-<version>.tgz. It contains the build, and depends only on
// Bun.
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { root } from './bun.mjs'
import { buildConsoleIfStale } from './console-build.mjs'
import { ensureInstalled } from './install.mjs'
import { serverProgram } from './server-build.mjs'

/** The manifest of the published package, derived from that of the repository. */
function manifest() {
  const { name, version, description, license, type, engines, dependencies } = JSON.parse(
    readFileSync(join(root, 'package.json'), 'utf8'),
  )
  const bin = { tollgate: 'bin/tollgate.mjs' }
  return { name, version, description, license, type, engines, bin, dependencies: { bun: dependencies.bun } }
}

/** Builds the package and returns the path of the tarball. */
export async function buildPackage() {
  ensureInstalled()
  await buildConsoleIfStale()
  serverProgram()
  const folder = join(root, 'dist/package')
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(join(folder, 'dist'), { recursive: true })
  const content = manifest()
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(content, undefined, 2)}\n`)
  cpSync(join(root, 'packaging/npm/tollgate.mjs'), join(folder, 'bin/tollgate.mjs'))
  cpSync(join(root, 'tools/bun.mjs'), join(folder, 'tools/bun.mjs'))
  for (const name of ['README.md', 'LICENSE', 'CHANGELOG.md']) cpSync(join(root, name), join(folder, name))
  for (const name of readdirSync(join(root, 'dist')).filter((file) => file.endsWith('.js')))
    cpSync(join(root, 'dist', name), join(folder, 'dist', name))
  cpSync(join(root, 'dist/console'), join(folder, 'dist/console'), { recursive: true })
  const packed = spawnSync('npm', ['pack', folder, '--pack-destination', join(root, 'dist'), '--loglevel=error'], {
    cwd: root,
    encoding: 'utf8',
    shell: process.platform === 'win32',
  })
  if (packed.status !== 0) throw new Error(`npm pack failed: ${packed.stderr}`)
  return join(root, 'dist', `${content.name}-${content.version}.tgz`)
}

if (process.argv[1] && resolve(process.argv[1]) === fileURLToPath(import.meta.url)) console.log(await buildPackage())
