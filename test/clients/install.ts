import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { delimiter, join, resolve } from 'node:path'
import type { Client } from './programs.ts'

const root = resolve(import.meta.dir, '../..')

/** Where clients are installed, separate from the packages of this repository. */
export const cache = join(root, 'node_modules/.cache/tollgate-clients')

/** Some clients need a newer version of Node than this repository. npm offers it as one package per platform. */
const nodeVersion = '24.21.0'
const nodePackage = `node-${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`

/** Installs exactly these packages into their own folder. Throws with npm's output if it fails. */
function installInto(folder: string, packages: Readonly<Record<string, string>>): void {
  if (Object.entries(packages).every(([name, version]) => installedVersion(folder, name) === version)) return
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, dependencies: packages }))
  const flags = ['--no-audit', '--no-fund', '--loglevel=error']
  const done = spawnSync('npm', ['install', ...flags], { cwd: folder, encoding: 'utf8' })
  if (done.status !== 0)
    throw new Error(`npm install failed: ${(done.stderr ?? String(done.error)).trim().slice(-300)}`)
}

function installedVersion(folder: string, name: string): string | undefined {
  const file = join(folder, 'node_modules', name, 'package.json')
  return existsSync(file) ? String(JSON.parse(readFileSync(file, 'utf8')).version) : undefined
}

/** Installs a client and returns its folder. */
export function installClient({ id, packages }: Client): string {
  const folder = join(cache, id)
  installInto(folder, packages)
  return folder
}

/** A PATH on which the newer Node comes first. */
export function installNode(): string {
  const folder = join(cache, 'node')
  installInto(folder, { [nodePackage]: nodeVersion })
  return [join(folder, 'node_modules/.bin'), process.env['PATH'] ?? ''].join(delimiter)
}
