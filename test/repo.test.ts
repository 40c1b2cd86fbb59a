import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import {
  decisionFaults,
  differences,
  documentedCodes,
  hiddenBun,
  longFiles,
  machinePaths,
  registryHosts,
  repeated,
} from '../tools/repo-rules.ts'

const root = resolve(import.meta.dir, '..')

interface KnownProvider {
  readonly meta: { readonly type: number; readonly name: string }
}

// The modules are loaded inside the tests, so that a module that cannot be loaded fails only its own test.
const load = <T>(path: string): Promise<T> => import(resolve(root, path))

describe('the repository', () => {
  test('has no file that is too long', () => {
    expect(longFiles(root)).toEqual([])
  })

  test('contains no path that exists only on one machine', () => {
    expect(machinePaths(root)).toEqual([])
  })

  test('contains no host of a package registry', () => {
    expect(registryHosts(root)).toEqual([])
  })

  test('uses Bun’s own API only in the named files', () => {
    expect(hiddenBun(root)).toEqual([])
  })

  test('numbers and dates its decisions', () => {
    expect(decisionFaults(root)).toEqual([])
  })

  test('documents exactly the errors that it returns', async () => {
    const { errorTable } = await load<{ errorTable: Record<string, unknown> }>('server/errors.ts')
    const documented = documentedCodes(readFileSync(resolve(root, 'docs/errors.md'), 'utf8'))
    expect(differences(Object.keys(errorTable), documented)).toEqual([])
  })

  test('gives every provider its own type number and name', async () => {
    const { providers } = await load<{ providers: readonly KnownProvider[] }>('server/providers/registry.ts')
    expect(providers.length).toBeGreaterThan(0)
    expect(repeated(providers.map((provider) => provider.meta.type))).toEqual([])
    expect(repeated(providers.map((provider) => provider.meta.name))).toEqual([])
  })
})
