// Only deliberately chosen packages are installed: versions are exact, and every package is pinned by its hash. Numbers
// in titles, such as 8.5-18, are items of table.md.
import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

const root = resolve(import.meta.dir, '../..')
const read = <T>(path: string): T => JSON.parse(readFileSync(join(root, path), 'utf8')) as T

interface Package {
  dependencies?: Record<string, string>
  devDependencies?: Record<string, string>
}

interface Locked extends Package {
  version?: string
  integrity?: string
  resolved?: string
  link?: boolean
}

test('8.5-18 every dependency has one exact version, and the lock file has the hash of every package', () => {
  const own = read<Package>('package.json')
  const wanted = { ...own.dependencies, ...own.devDependencies }
  for (const [name, version] of Object.entries(wanted))
    expect([name, /^\d+\.\d+\.\d+(?:-[\w.-]+)?$/.test(version)]).toEqual([name, true])
  const { packages } = read<{ packages: Record<string, Locked> }>('package-lock.json')
  const locked = packages[''] ?? {}
  expect({ ...locked.dependencies, ...locked.devDependencies }).toEqual(wanted)
  for (const [path, { integrity, version, link }] of Object.entries(packages)) {
    if (path === '' || link) continue
    expect([path, version !== undefined && integrity?.startsWith('sha512-')]).toEqual([path, true])
  }
})

test('8.5-18 nothing is installed or run without the lock file', () => {
  expect(readFileSync(join(root, 'bunfig.toml'), 'utf8')).toMatch(/auto\s*=\s*"disable"/)
  expect(readFileSync(join(root, 'tools/install.mjs'), 'utf8')).toContain("'ci'")
  expect(readFileSync(join(root, 'Dockerfile'), 'utf8')).not.toMatch(/npm (?:install|i)\b(?! -g)/)
})
