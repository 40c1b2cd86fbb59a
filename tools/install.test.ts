import { afterAll, beforeEach, describe, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import packageFile from '../package.json'
import { findBun } from './bun.mjs'
import { isForDevelopment, missingPackages } from './install.mjs'

const base = mkdtempSync(join(tmpdir(), 'tollgate-install-'))
const write = (path: string, text: string) => {
  mkdirSync(join(base, path, '..'), { recursive: true })
  writeFileSync(join(base, path), text)
}

beforeEach(() => rmSync(base, { recursive: true, force: true }))
afterAll(() => rmSync(base, { recursive: true, force: true }))

test('every npm script that runs a program gets the packages that it needs', () => {
  const { scripts } = packageFile as { scripts: Record<string, string> }
  const programs = Object.values(scripts).flatMap((script) => /^node tools\/bun\.mjs (\S+)$/.exec(script)?.[1] ?? [])
  expect(programs).toContain('test/clients/main.ts')
  for (const program of programs) expect([program, isForDevelopment(program)]).toEqual([program, true])
  for (const program of ['dist/main.js', 'server/main.ts', '-e', '']) expect(isForDevelopment(program)).toBe(false)
})

describe('missingPackages', () => {
  const lock = (path: string, packages: object) => write(path, JSON.stringify({ packages }))
  const wanted = {
    '': { name: 'here' },
    'node_modules/runs': { version: '1.0.0' },
    'node_modules/builds': { version: '1.0.0', dev: true },
    'node_modules/for-another-platform': { version: '1.0.0', optional: true },
  }

  test('returns every package before the first install', () => {
    lock('package-lock.json', wanted)
    expect(missingPackages(base)).toEqual(['node_modules/runs', 'node_modules/builds'])
    expect(missingPackages(base, { production: true })).toEqual(['node_modules/runs'])
  })

  test('returns nothing if the versions agree', () => {
    lock('package-lock.json', wanted)
    lock('node_modules/.package-lock.json', { 'node_modules/runs': { version: '1.0.0' } })
    expect(missingPackages(base, { production: true })).toEqual([])
    expect(missingPackages(base)).toEqual(['node_modules/builds'])
  })

  test('returns a package that has a different version', () => {
    lock('package-lock.json', wanted)
    lock('node_modules/.package-lock.json', {
      'node_modules/runs': { version: '0.9.0' },
      'node_modules/builds': { version: '1.0.0' },
      'node_modules/for-another-platform': { version: '0.9.0' },
    })
    expect(missingPackages(base)).toEqual(['node_modules/runs', 'node_modules/for-another-platform'])
  })
})

describe('findBun', () => {
  const name = process.platform === 'win32' ? 'windows' : process.platform
  const platform = `@oven/bun-${name}-${process.arch === 'arm64' ? 'aarch64' : process.arch}`
  const file = process.platform === 'win32' ? 'bun.exe' : 'bun'
  const runtime = 'x'.repeat(1_000_001)

  test('uses the platform package until the install script has run', () => {
    write('node_modules/bun/bin/bun.exe', 'echo "postinstall was not run"')
    write(`node_modules/${platform}/bin/${file}`, runtime)
    expect(findBun(base)).toBe(join(base, 'node_modules', platform, 'bin', file))
  })

  test('uses what the install script installed', () => {
    write('node_modules/bun/bin/bun.exe', runtime)
    expect(findBun(base)).toBe(join(base, 'node_modules/bun/bin/bun.exe'))
  })

  test('reports an error if there is no runtime', () => {
    expect(() => findBun(base)).toThrow('npm install')
  })
})
