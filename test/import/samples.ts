import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

/** The folder with databases that the real programs made; see CONTRIBUTING.md. */
const folder = resolve(process.env['MIGRATION_DIR'] ?? join(import.meta.dir, '../../../shared/migration'))

/** The result that the README of the samples requires. */
export interface Expected {
  users: number
  quotaButRoot: number
  used: number
  tokens: number
  tokenUsed?: number
  channels: number
  charges: number
  charged: number
}

/** A sample database. */
export interface Sample {
  name: string
  database: 'sqlite' | 'postgres' | 'mysql'
  expected: Expected
}

const of = (
  users: number,
  quotaButRoot: number,
  used: number,
  tokens: number,
  charges: number,
  tokenUsed?: number,
): Expected => ({
  users,
  quotaButRoot,
  used,
  tokens,
  channels: 9,
  charges,
  charged: used,
  ...(tokenUsed !== undefined && { tokenUsed }),
})

export const samples: readonly Sample[] = [
  { name: 'one-api-0.5.4-sqlite', database: 'sqlite', expected: of(7, 7410494, 3073, 12, 55, 449) },
  { name: 'one-api-0.6.11-sqlite', database: 'sqlite', expected: of(7, 7410015, 3552, 18, 48, 106) },
  { name: 'new-api-0.6.3-sqlite', database: 'sqlite', expected: of(7, 7410702, 2865, 12, 38, 2865) },
  { name: 'one-hub-0.14.27-sqlite', database: 'sqlite', expected: of(7, 6680343, 48657, 12, 48, 6518) },
  { name: 'one-api-0.6.11-postgres', database: 'postgres', expected: of(8, 6912456, 1111, 20, 48) },
  { name: 'new-api-0.6.3-postgres', database: 'postgres', expected: of(8, 6912634, 933, 13, 38) },
  { name: 'one-api-0.6.11-mysql', database: 'mysql', expected: of(8, 6912355, 1212, 20, 48) },
  { name: 'new-api-0.6.3-mysql', database: 'mysql', expected: of(8, 6912547, 1020, 13, 38) },
]

/** The accounts, tokens, codes and options that a sample contains, and the URL of its upstream. */
export interface Facts {
  accounts: { username: string; password: string; role: number; access_token?: string }[]
  tokens: { user: string; name: string; key: string }[]
  codes: { code: string; quota: number; state: string }[]
  options: Record<string, string>
  upstream: string
}

/** The path of a sample's file, or undefined if the samples are not on this machine. */
export function sampleFile(name: string, file: string): string | undefined {
  const path = join(folder, name, file)
  return existsSync(path) ? path : undefined
}

export function factsOf(name: string): Facts {
  return JSON.parse(readFileSync(join(folder, name, 'facts.json'), 'utf8')) as Facts
}
